"""Wire formats of webhook subscriptions, deliveries and events."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from marshmallow import Schema, fields

from api.domain.clock import format_time
from api.domain.events import EventType
from api.schemas.base import BaseSchema
from api.schemas.fields import EnvModeField, IntegerField, TextField, UrlField
from api.schemas.routing_fields import ChoiceField, CountField

MAX_PAGE = 100
DEFAULT_PAGE = 25


class Moment(fields.String):
    """A moment in ISO 8601, UTC."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **_: Any) -> str | None:
        return format_time(value) if isinstance(value, datetime) else None


class NewSubscriptionSchema(BaseSchema):
    """Where to send the events of one environment."""

    webhook_url = UrlField(required=True)
    env_mode = EnvModeField(load_default=None, allow_none=False, metadata={"default": "live"})


class EnvModeQuery(BaseSchema):
    """Which environment is asked for."""

    env_mode = EnvModeField(load_default=None, allow_none=False)


class SampleEventSchema(BaseSchema):
    """What to try a receiver with."""

    type = ChoiceField(tuple(EventType), load_default=EventType.PROCESSING)


class PageQuery(BaseSchema):
    """Which part of a list is asked for."""

    limit = CountField(minimum=1, maximum=MAX_PAGE, load_default=DEFAULT_PAGE)
    cursor = TextField(
        max_length=64, load_default=None, allow_none=False, metadata={"description": "`next_cursor` of the page before"}
    )


class EventsQuery(BaseSchema):
    """From where on events are asked for."""

    since = TextField(
        max_length=64,
        load_default=None,
        allow_none=False,
        metadata={
            "description": "`next_cursor` of the page before, the id of an event, or a moment in ISO 8601 with a "
            "time zone"
        },
    )
    limit = CountField(minimum=1, maximum=MAX_PAGE, load_default=MAX_PAGE)
    env_mode = EnvModeField(load_default=None, allow_none=False)


class MissedSchema(BaseSchema):
    """From where on a subscription missed events."""

    since = TextField(
        required=True,
        max_length=64,
        metadata={
            "description": "`missed_since` of the answer that enabled it, `next_cursor` of the page before, the id of "
            "an event, or a moment in ISO 8601 with a time zone"
        },
    )
    limit = IntegerField(minimum=1, maximum=MAX_PAGE, load_default=MAX_PAGE)


class MessageSchema(Schema):
    """One sentence."""

    message = fields.String(required=True)


class SubscriptionSchema(Schema):
    """A subscription, without its secret."""

    webhook_id = fields.String(attribute="id", required=True)
    webhook_url = fields.String(attribute="url", required=True)
    env_mode = EnvModeField(required=True)
    status = fields.Function(
        lambda row: "active" if row.disabled_at is None else "disabled",
        metadata={"type": "string", "enum": ["active", "disabled"]},
    )
    disabled_reason = fields.String(allow_none=True)
    created_at = Moment(required=True)
    updated_at = Moment(required=True)


class SecretSubscriptionSchema(SubscriptionSchema):
    """A subscription with its secret, this once."""

    secret = fields.String(required=True)


class RegisteredSchema(MessageSchema):
    """A subscription just made, or with a new secret."""

    data = fields.Nested(SecretSubscriptionSchema, required=True)


class ChangedSchema(MessageSchema):
    """A subscription after a change."""

    data = fields.Nested(SubscriptionSchema, required=True)


class EnabledSchema(ChangedSchema):
    """A subscription that is active again."""

    missed_since = Moment(
        required=True,
        allow_none=True,
        metadata={"description": "When the first event was made that it did not get; null if it was not disabled"},
    )


class RedeliveredPageSchema(Schema):
    """Events that are on their way again, oldest first."""

    event_ids = fields.List(fields.String(), required=True)
    next_cursor = fields.String(required=True)
    has_more = fields.Boolean(required=True)


class RedeliveredSchema(MessageSchema):
    """What is sent of what was missed."""

    data = fields.Nested(RedeliveredPageSchema, required=True)


class SubscriptionListSchema(Schema):
    """All subscriptions of one environment."""

    data = fields.List(fields.Nested(SubscriptionSchema), required=True)


class SentTestSchema(MessageSchema):
    """A test event that is on its way."""

    data = fields.Nested(Schema.from_dict({"event_id": fields.String(required=True)}, name="SentEvent"), required=True)


class AttemptSchema(Schema):
    """One attempt at a delivery."""

    attempt = fields.Integer(required=True)
    at = Moment(required=True)
    response_status = fields.Integer(allow_none=True)
    response_excerpt = fields.String(allow_none=True)
    error = fields.String(allow_none=True, metadata={"description": "Why there was no answer"})
    duration_ms = fields.Integer(required=True)


class DeliverySchema(Schema):
    """An event for one subscription, and every attempt to deliver it."""

    delivery_id = fields.String(attribute="delivery.id", required=True)
    webhook_id = fields.String(attribute="delivery.subscription_id", required=True)
    event_id = fields.String(attribute="event.id", required=True)
    event_type = fields.String(attribute="event.type", required=True)
    payment_order_id = fields.String(attribute="event.order_id", allow_none=True)
    status = fields.String(
        attribute="delivery.status",
        required=True,
        metadata={"enum": ["pending", "delivered", "failed", "cancelled"]},
    )
    created_at = Moment(attribute="delivery.created_at", required=True)
    delivered_at = Moment(attribute="delivery.delivered_at", allow_none=True)
    next_attempt_at = Moment(attribute="delivery.next_attempt_at", allow_none=True)
    attempts = fields.List(fields.Nested(AttemptSchema), required=True)


class DeliveryPageSchema(Schema):
    """Deliveries of one subscription, newest first."""

    data = fields.List(fields.Nested(DeliverySchema), attribute="deliveries", required=True)
    next_cursor = fields.String(allow_none=True, required=True)


class RedeliverySchema(MessageSchema):
    """A delivery that is on its way again."""

    data = fields.Nested(DeliverySchema, required=True)


class EventSchema(Schema):
    """An event; `event` is the body that webhooks get."""

    id = fields.String(required=True, metadata={"description": "The webhook-id of its deliveries"})
    event = fields.Function(lambda row: json.loads(row.payload)["event"], metadata={"type": "object"})


class EventPageSchema(Schema):
    """Events in the order in which they became known."""

    data = fields.List(fields.Nested(EventSchema), attribute="events", required=True)
    next_cursor = fields.String(allow_none=True, required=True)
    has_more = fields.Boolean(required=True)
