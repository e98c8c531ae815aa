"""Payment links and payment orders on the wire, in the interface's field order."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from marshmallow import ValidationError, fields, validate

from api.domain.orders import OrderStatus
from api.domain.simulation import Action
from api.schemas.addresses import AddressAnswer
from api.schemas.base import BaseSchema, HttpsInLive
from api.schemas.fields import (
    AmountField,
    EnvModeField,
    FreeObject,
    IntegerField,
    ListField,
    ObjectField,
    PictureUrl,
    TextField,
    UrlField,
    VisibleText,
    expected,
)
from api.schemas.refunds import RefundAnswer, TransferAnswer
from api.schemas.routing_fields import ChoiceField, CountField

MAX_DECIMALS = 36
MAX_PAGE = 100
DEFAULT_PAGE = 20
CALLBACKS = ("success_callback_url", "cancel_callback_url", "failure_callback_url")


class MomentField(fields.Field[datetime]):
    """A moment in ISO 8601 with its offset from UTC."""

    default_error_messages = {"required": "Required", "null": "Expected string, received null"}  # noqa: RUF012 - marshmallow's type

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> datetime:
        if not isinstance(value, str):
            raise expected("string", value)
        try:
            moment = datetime.fromisoformat(value)
            return moment.astimezone(UTC) if moment.tzinfo else self._refuse()
        except (ValueError, OverflowError):
            return self._refuse()

    def _refuse(self) -> datetime:
        raise ValidationError("Expected a moment in ISO 8601 with a time zone, such as 2030-01-31T12:00:00Z")


class UnitPriceSchema(BaseSchema):
    """The price of one piece: ``amount / 10**decimals`` of the order's currency."""

    amount = AmountField(required=True, minimum=0, metadata={"description": "An integer, or a string of digits"})
    decimals = IntegerField(required=True, minimum=0, maximum=MAX_DECIMALS)
    currency = TextField(max_length=32, metadata={"description": "The order's currency, also without it"})


class LineItemSchema(BaseSchema):
    """One thing that is sold."""

    title = VisibleText(required=True, max_length=200)
    quantity = IntegerField(required=True, minimum=1, maximum=1_000_000)
    description = TextField(min_length=0, max_length=800)
    image_url = PictureUrl()
    unit_price = ObjectField(
        UnitPriceSchema, metadata={"description": "Of one piece; where all items have one, they add up to the order's"}
    )


class OrderPriceSchema(BaseSchema):
    """The total price: ``amount / 10**decimals`` of the currency."""

    currency = TextField(required=True, max_length=32, metadata={"example": "USDC"})
    amount = AmountField(required=True, metadata={"description": "An integer, or a string of digits"})
    decimals = IntegerField(required=True, minimum=0, maximum=MAX_DECIMALS)


class PaymentLinkSchema(HttpsInLive):
    """Body of the creation of a payment link."""

    https_in_live = CALLBACKS

    line_items = ListField(ObjectField(LineItemSchema), required=True, min_length=1, max_length=100)
    order_price = ObjectField(OrderPriceSchema, required=True)
    env_mode = EnvModeField(required=True)
    success_callback_url = UrlField(required=True)
    cancel_callback_url = UrlField(required=True)
    failure_callback_url = UrlField(required=True)
    metadata = FreeObject()
    expires_at = MomentField(metadata={"description": "30 minutes to 30 days from now; 24 hours from now without it"})


class PaymentLinkAnswer(BaseSchema):
    """A payment link."""

    payment_order_id = fields.String(required=True)
    payment_url = fields.String(required=True)


class OrderPriceAnswer(BaseSchema):
    """The total price, as it was given."""

    currency = fields.String(required=True)
    amount = fields.Integer(required=True)
    decimals = fields.Integer(required=True)
    amount_string = fields.String(metadata={"description": "The amount again, for readers that lose digits past 2^53"})


class SettlementAnswer(BaseSchema):
    """Where and in what the merchant receives."""

    chain_id = fields.Integer()
    token_address = AddressAnswer()
    token_symbol = fields.String()
    token_decimals = fields.Integer()
    address = AddressAnswer()
    amount = fields.String(metadata={"description": "The whole price in the token's smallest units"})
    rounded_up = fields.Boolean(metadata={"description": "Whether the price was finer than the token's smallest unit"})


class TransactionAnswer(BaseSchema):
    """A transaction that belongs to the order."""

    chain_id = fields.Integer()
    hash = fields.String()
    timestamp = fields.String()


class StrandedAnswer(BaseSchema):
    """A payment that a bridge took in and could not deliver."""

    chain_id = fields.Integer(metadata={"description": "Where the money is"})
    token_address = AddressAnswer()
    amount = fields.String()
    bridge = fields.String()
    deposit_hash = fields.String()
    owner = AddressAnswer(metadata={"description": "Who gets it back"})
    refund_hash = fields.String(metadata={"description": "The transaction that gave it back; empty until then"})
    next_step = fields.String()


class TimelineAnswer(BaseSchema):
    """One change of the order."""

    status = fields.String()
    status_reason = fields.String()
    at = fields.String()
    transaction_hash = fields.String()


class PaymentOrderAnswer(BaseSchema):
    """A payment order."""

    payment_order_id = fields.String(required=True)
    payment_order_status = fields.String(required=True, validate=validate.OneOf(list(OrderStatus)))
    env_mode = fields.String(required=True)
    success_callback_url = fields.String(required=True)
    cancel_callback_url = fields.String(required=True)
    failure_callback_url = fields.String(required=True)
    line_items = fields.List(fields.Nested(LineItemSchema), required=True)
    order_price = fields.Nested(OrderPriceAnswer, required=True)
    transaction_hash = fields.String(required=True)
    metadata = fields.Dict(required=True)
    status_reason = fields.String()
    payment_url = fields.String()
    payable = fields.Boolean(metadata={"description": "Whether somebody may pay it as it stands now"})
    not_payable_reason = fields.String(
        metadata={
            "description": "Empty, or `order_closed`, `order_expired`, `nothing_due`, `no_settlement_account` or "
            "`chain_not_connected`"
        }
    )
    amount_due = fields.String(allow_none=True)
    amount_received = fields.String()
    settlement = fields.Nested(SettlementAnswer, allow_none=True)
    transactions = fields.List(fields.Nested(TransactionAnswer))
    stranded = fields.List(fields.Nested(StrandedAnswer))
    transfers = fields.List(fields.Nested(TransferAnswer))
    refunds = fields.List(fields.Nested(RefundAnswer))
    timeline = fields.List(fields.Nested(TimelineAnswer))
    expires_at = fields.String()
    created_at = fields.String()
    updated_at = fields.String()


class OrderListQuery(BaseSchema):
    """Which orders to list."""

    status = ChoiceField(tuple(OrderStatus))
    env_mode = EnvModeField(metadata={"description": "The key's own environment without it"})
    limit = CountField(minimum=1, maximum=MAX_PAGE, load_default=DEFAULT_PAGE)
    cursor = TextField(max_length=64, metadata={"description": "`next_cursor` of the page before"})


class SimulateSchema(BaseSchema):
    """What shall happen to a test order."""

    action = ChoiceField(tuple(Action), required=True)
    quote_id = TextField(max_length=64, metadata={"description": "Quote of this order, for paying as the payer chose"})


class OrderListAnswer(BaseSchema):
    """A page of orders, newest first; `next_cursor` asks for the next one and is null on the last."""

    data = fields.List(fields.Nested(PaymentOrderAnswer), required=True)
    next_cursor = fields.String(required=True, allow_none=True)
