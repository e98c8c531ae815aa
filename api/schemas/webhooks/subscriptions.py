"""Wire formats of webhook subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from marshmallow import ValidationError, fields

from api.domain.env import EnvMode
from api.domain.events import DEFAULT_TYPES, EventType
from api.schemas.base import AnswerSchema, BaseSchema
from api.schemas.fields.limited import ChoiceField
from api.schemas.fields.paging import PlaceField
from api.schemas.fields.plain import EnvModeField, IntegerField, ListField
from api.schemas.fields.texts import Moment, Text, UrlText, Word
from api.schemas.fields.urls import UrlField

MAX_PAGE = 100
SUBSCRIPTION_EXAMPLE = "ep_01kjmr8z6d3s1f9k7n5v2x0c4b8g6q3w1jt"
EXAMPLE = {"webhook_url": "https://shop.example/webhooks", "env_mode": "test"}


class EventTypesField(ListField):
    """Types of events, each once, in the order of the enumeration."""

    def __init__(self, **kwargs: Any) -> None:
        described = {
            "description": "Types that are sent; without it the first three. The others come only where they are named",
            "example": [EventType.SUCCESS, EventType.REFUNDED],
            "uniqueItems": True,
        }
        types = ChoiceField(EventType, metadata={"description": "A type of event"})
        super().__init__(types, min_length=1, max_length=len(EventType), metadata=described, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> list[Any]:
        given = super()._deserialize(value, attr, data, **kwargs)
        if len(set(given)) < len(given):
            raise ValidationError("Each type is named once")
        return [each for each in EventType if each in given]


class NewSubscriptionSchema(BaseSchema):
    """Where to send the events of one environment."""

    webhook_url = UrlField(required=True, metadata={"description": "Where to send them"})
    env_mode = EnvModeField(
        load_default=None, allow_none=False, metadata={"default": EnvMode.LIVE, "description": "Whose events"}
    )
    events = EventTypesField(load_default=DEFAULT_TYPES)


class SubscriptionChangeSchema(BaseSchema):
    """What is to change of a subscription; what is not named stays."""

    webhook_url = UrlField(metadata={"description": "Where to send them from now on"})
    events = EventTypesField()


class EnvModeQuery(BaseSchema):
    """Which environment is asked for."""

    env_mode = EnvModeField(
        load_default=None, allow_none=False, metadata={"description": "The key's own environment without it"}
    )


class SampleEventSchema(BaseSchema):
    """What to try a receiver with."""

    type = ChoiceField(EventType, load_default=EventType.PROCESSING, metadata={"description": "What the event tells"})


class MissedSchema(BaseSchema):
    """From where on a subscription missed events."""

    since = PlaceField(
        required=True,
        metadata={
            "description": "`missed_since` of the answer that enabled it, `next_cursor` of the page before, the id of "
            "an event, or a moment with a time zone"
        },
    )
    limit = IntegerField(
        minimum=1, maximum=MAX_PAGE, load_default=MAX_PAGE, metadata={"description": "At most so many events"}
    )


class MessageSchema(AnswerSchema):
    """One sentence."""

    message = Text("What was done")


class SubscriptionStatus(StrEnum):
    """Whether a subscription gets new events."""

    ACTIVE = "active"
    DISABLED = "disabled"


class _StatusField(Word):
    """Whether a row of a subscription is disabled."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **_: Any) -> str:
        return SubscriptionStatus.ACTIVE if value is None else SubscriptionStatus.DISABLED


class SubscriptionSchema(AnswerSchema):
    """A subscription, without its secret."""

    webhook_id = Text("Its id", attribute="id", example=SUBSCRIPTION_EXAMPLE)
    webhook_url = UrlText("Where its events go", attribute="url", example=EXAMPLE["webhook_url"])
    env_mode = Word(EnvMode, "The environment whose events it gets")
    events = fields.List(Word(EventType, "A type of event"), metadata={"description": "Types of events that it gets"})
    status = _StatusField(SubscriptionStatus, "Whether it gets new events", attribute="disabled_at")
    disabled_reason = Text("Why it does not; null while it does", allow_none=True)
    failing_since = Moment(
        "When the first attempt failed since the last success; null where none has",
        allow_none=True,
    )
    created_at = Moment("When it was made")
    updated_at = Moment("When it last changed")


class SecretSubscriptionSchema(SubscriptionSchema):
    """A subscription with its secret, this once."""

    secret = Text(
        "What signs its deliveries, by Standard Webhooks; shown this once",
        example="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    )


class RegisteredSchema(MessageSchema):
    """A subscription just made, or with a new secret."""

    data = fields.Nested(SecretSubscriptionSchema, metadata={"description": "The subscription"})


class ChangedSchema(MessageSchema):
    """A subscription after a change."""

    data = fields.Nested(SubscriptionSchema, metadata={"description": "The subscription"})


class EnabledSchema(ChangedSchema):
    """A subscription that is active again."""

    missed_since = Moment(
        "When the first event was made that it did not get; null if it was not disabled", allow_none=True
    )


class RedeliveredPageSchema(AnswerSchema):
    """Events that are on their way again, oldest first."""

    event_ids = fields.List(fields.String(), metadata={"description": "Their ids"})
    next_cursor = Text("Send it as `since` for the next page")
    has_more = fields.Boolean(metadata={"description": "Whether there is a next page"})


class RedeliveredSchema(MessageSchema):
    """What is sent of what was missed."""

    data = fields.Nested(RedeliveredPageSchema, metadata={"description": "The events"})


class FoundSubscriptionSchema(AnswerSchema):
    """One subscription."""

    data = fields.Nested(SubscriptionSchema, metadata={"description": "The subscription"})


class SubscriptionListSchema(AnswerSchema):
    """All subscriptions of one environment."""

    data = fields.List(fields.Nested(SubscriptionSchema), metadata={"description": "The subscriptions"})


class SentEventSchema(AnswerSchema):
    """An event that is on its way."""

    event_id = Text("Its id, the `webhook-id` of its deliveries", example="evt_01kjmr9w2c7g5v0n3b6x8y4z1d9s7k5m2ht")


class SentTestSchema(MessageSchema):
    """A test event that is on its way."""

    data = fields.Nested(SentEventSchema, metadata={"description": "The event"})
