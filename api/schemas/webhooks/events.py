"""Wire format of events: the body that webhooks get, and their list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar

from marshmallow import fields

from api.domain.env import EnvMode
from api.domain.events import EventType
from api.domain.ids import IdPrefix
from api.domain.orders import OrderStatus, StatusReason
from api.schemas.base import AnswerSchema, BaseSchema
from api.schemas.fields.limited import ChoiceField, CountField
from api.schemas.fields.paging import IdField, PlaceField
from api.schemas.fields.plain import EnvModeField, FreeObject
from api.schemas.fields.texts import Digits, MaybeHash, Moment, Text, Word
from api.schemas.orders.payment_links import ORDER_EXAMPLE, OrderPriceAnswer
from api.schemas.orders.payments import ToldTransactionAnswer
from api.schemas.orders.refunds import ToldRefundAnswer
from api.schemas.orders.unmatched_transfers import UnmatchedTransferAnswer

MAX_PAGE = 100
WITH_PRICE = "there where `order_price` is"
EVENT_EXAMPLE = "evt_01kjmr9w2c7g5v0n3b6x8y4z1d9s7k5m2ht"


class EventDataSchema(AnswerSchema):
    """The order or the transfer that an event is about, as it was then."""

    sometimes = frozenset(
        {"order_price", "amount_received", "amount_due", "transactions_left_out", "refund", "transfer"}
    )

    payment_order_id = Text("Id of the order; empty where the event is about none", example=ORDER_EXAMPLE)
    metadata = FreeObject(metadata={"description": "As the order had it then", "example": {"cart": "7"}})
    transaction_hash = MaybeHash(
        "The payer's transaction on the chain it paid from, of `paid_after_close` the one that came then; empty before "
        "there is one"
    )
    payment_order_status = Word(OrderStatus, "The order's status; null where there is no order", allow_none=True)
    status_reason = Word(StatusReason, "Why it stands there; empty where there is nothing to say")
    order_price = fields.Nested(
        OrderPriceAnswer,
        metadata={
            "description": "What the order costs; missing where the event is about none, and in events that were "
            "stored before they had it"
        },
    )
    amount_received = Digits(f"What had come, in the settlement token's smallest units; {WITH_PRICE}")
    amount_due = Digits(
        "What was still missing, in the settlement token's smallest units; null without a settlement; " + WITH_PRICE,
        allow_none=True,
    )
    transactions = fields.List(
        fields.Nested(ToldTransactionAnswer),
        metadata={
            "description": "Those of the order that weigh most, oldest first: all, or a hundred where it has more; or "
            "the transfer's"
        },
    )
    transactions_left_out = fields.Integer(
        metadata={"description": "Only where there are more: how many. The order itself lists all", "example": 900}
    )
    refund = fields.Nested(ToldRefundAnswer, metadata={"description": "Of `payment_refunded` only: what went back"})
    transfer = fields.Nested(
        UnmatchedTransferAnswer, metadata={"description": "Of `payment_unmatched` only: what belongs to no order"}
    )


class EventSchema(AnswerSchema):
    """Something that happened to a payment order, or a transfer that belongs to none."""

    resource = Text("Always `event`", example="event")
    type = Word(EventType, "What happened")
    created_at = Moment("When it happened")
    env_mode = Word(EnvMode, "The environment of the order or transfer")
    data = fields.Nested(EventDataSchema, metadata={"description": "What it happened to"})


class WebhookBodySchema(AnswerSchema):
    """What a webhook gets."""

    event = fields.Nested(EventSchema, metadata={"description": "The event"})


class EventsQuery(BaseSchema):
    """From where on events are asked for."""

    since = PlaceField(
        load_default=None,
        allow_none=False,
        metadata={"description": "`next_cursor` of the page before, the id of an event, or a moment with a time zone"},
    )
    cursor = PlaceField(
        load_default=None,
        allow_none=False,
        metadata={"description": "`next_cursor` of the page before, with the same filters"},
    )
    type = ChoiceField(
        EventType, load_default=None, allow_none=False, metadata={"description": "Events of this type only"}
    )
    payment_order_id = IdField(
        IdPrefix.ORDER,
        load_default=None,
        allow_none=False,
        metadata={"description": "Events of this order only"},
    )
    limit = CountField(minimum=1, maximum=MAX_PAGE, load_default=MAX_PAGE, metadata={"description": "At most so many"})
    env_mode = EnvModeField(
        load_default=None, allow_none=False, metadata={"description": "The key's own environment without it"}
    )


class _PayloadField(fields.Function):
    """The event within a stored body, as it was sent."""

    shape: ClassVar[Mapping[str, str]] = {"$ref": "#/components/schemas/Event"}


class ListedEventSchema(AnswerSchema):
    """An event with its id."""

    id = Text("The `webhook-id` of its deliveries", example=EVENT_EXAMPLE)
    event = _PayloadField(lambda row: json.loads(row.payload)["event"], metadata={"description": "What webhooks get"})


class EventPageSchema(AnswerSchema):
    """Events in the order in which they became known."""

    data = fields.List(
        fields.Nested(ListedEventSchema), attribute="events", metadata={"description": "The events of this page"}
    )
    next_cursor = Text("Send it as `cursor` or `since` to go on from here; null where there is none", allow_none=True)
    has_more = fields.Boolean(metadata={"description": "Whether there are more by now"})
