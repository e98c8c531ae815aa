"""Wire formats of webhook subscriptions and deliveries."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from marshmallow import ValidationError, fields

from api.domain.env import EnvMode
from api.domain.events import DEFAULT_TYPES, EventType
from api.domain.ids import IdPrefix
from api.schemas.base import AnswerSchema, BaseSchema
from api.schemas.fields.limited import ChoiceField, CountField
from api.schemas.fields.paging import CursorField, PlaceField
from api.schemas.fields.plain import EnvModeField, IntegerField, ListField
from api.schemas.fields.texts import Moment, Text, UrlText, Word
from api.schemas.fields.urls import UrlField
from api.services.webhooks.outbox import DeliveryStatus

MAX_PAGE = 100
DEFAULT_PAGE = 25
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


class PageQuery(BaseSchema):
    """Which part of a list is asked for."""

    limit = CountField(
        minimum=1, maximum=MAX_PAGE, load_default=DEFAULT_PAGE, metadata={"description": "At most so many"}
    )
    cursor = CursorField(IdPrefix.DELIVERY, load_default=None, allow_none=False)


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


class AttemptSchema(AnswerSchema):
    """One attempt at a delivery."""

    attempt = fields.Integer(metadata={"description": "Counts from 1", "example": 1})
    at = Moment("When it began")
    response_status = fields.Integer(
        allow_none=True, metadata={"description": "HTTP status of the answer; null without one", "example": 200}
    )
    response_excerpt = Text("How the answer begins; null without one", allow_none=True)
    error = Text("Why there was no answer; null where there was one", allow_none=True)
    duration_ms = fields.Integer(metadata={"description": "How long it took, in milliseconds", "example": 87})


class DeliverySchema(AnswerSchema):
    """An event for one subscription, and every attempt to deliver it."""

    delivery_id = Text("Its id", attribute="delivery.id", example="dlv_01kjmr9x4h8j6t2m0f5c7q3w9b1r8p6v4nd")
    webhook_id = Text("The subscription", attribute="delivery.subscription_id", example=SUBSCRIPTION_EXAMPLE)
    event_id = Text("The event", attribute="event.id", example="evt_01kjmr9w2c7g5v0n3b6x8y4z1d9s7k5m2ht")
    event_type = Word(EventType, "What the event tells", attribute="event.type")
    payment_order_id = Text("The order; null for a test event", attribute="event.order_id", allow_none=True)
    status = Word(DeliveryStatus, "Where it stands", attribute="delivery.status")
    created_at = Moment("When the event happened", attribute="delivery.created_at")
    delivered_at = Moment("When it arrived; null before that", attribute="delivery.delivered_at", allow_none=True)
    next_attempt_at = Moment(
        "When it is tried next; null where it is not", attribute="delivery.next_attempt_at", allow_none=True
    )
    attempts = fields.List(fields.Nested(AttemptSchema), metadata={"description": "What was tried, oldest first"})


class DeliveryPageSchema(AnswerSchema):
    """Deliveries of one subscription, newest first."""

    data = fields.List(
        fields.Nested(DeliverySchema), attribute="deliveries", metadata={"description": "The deliveries of this page"}
    )
    next_cursor = Text("Send it as `cursor` for the next page; null on the last one", allow_none=True)


class RedeliverySchema(MessageSchema):
    """A delivery that is on its way again."""

    data = fields.Nested(DeliverySchema, metadata={"description": "The delivery"})
