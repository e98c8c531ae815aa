"""Wire formats of deliveries: what was sent to a subscription, and what came of it."""

from __future__ import annotations

from marshmallow import fields

from api.domain.events import EventType
from api.domain.ids import IdPrefix
from api.schemas.base import AnswerSchema, BaseSchema
from api.schemas.fields.limited import ChoicesField, CountField
from api.schemas.fields.paging import CursorField, IdField
from api.schemas.fields.texts import Moment, Text, Word
from api.schemas.webhooks.subscriptions import MAX_PAGE, SUBSCRIPTION_EXAMPLE, MessageSchema
from api.services.webhooks.outbox import DeliveryStatus

DEFAULT_PAGE = 25


class DeliveriesQuery(BaseSchema):
    """Which deliveries are asked for."""

    status = ChoicesField(
        DeliveryStatus,
        metadata={"description": "Those of this status, or of one of these: repeated, or with commas between them"},
    )
    event_id = IdField(IdPrefix.EVENT, metadata={"description": "The delivery of this event"})
    payment_order_id = IdField(IdPrefix.ORDER, metadata={"description": "Deliveries of the events of this order"})
    limit = CountField(
        minimum=1, maximum=MAX_PAGE, load_default=DEFAULT_PAGE, metadata={"description": "At most so many"}
    )
    cursor = CursorField(
        IdPrefix.DELIVERY,
        load_default=None,
        allow_none=False,
        metadata={"description": "`next_cursor` of the page before, with the same filters"},
    )


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
