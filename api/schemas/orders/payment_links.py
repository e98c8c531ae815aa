"""Payment links on the wire, in the interface's field order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from marshmallow import ValidationError, fields

from api.schemas.base import AnswerSchema, BaseSchema, HttpsInLive
from api.schemas.fields.decimal_amounts import MAX_DECIMALS, PriceAmount
from api.schemas.fields.plain import (
    EnvModeField,
    FreeObject,
    IntegerField,
    ListField,
    ObjectField,
    TextField,
    VisibleText,
    expected,
)
from api.schemas.fields.texts import Digits, Moment, Text, UrlText
from api.schemas.fields.urls import UrlField

CALLBACKS = ("success_callback_url", "cancel_callback_url", "failure_callback_url")
AMOUNT = "In units of ``10**-decimals`` of the currency, 1 to 2^256-1: an integer, or a string of digits"
PIECE_AMOUNT = "In units of ``10**-decimals`` of the currency, 0 to 2^256-1: an integer, or a string of digits"
DECIMALS = {"description": "Decimal places of the amount; they belong to the price, not to the token", "example": 6}
CURRENCY = {
    "description": "A token that the merchant is settled in, such as EURC for euros; or `USD`. Case does not matter: "
    "answers spell it as `GET /v1/tokens` does",
    "example": "USDC",
}
TITLE = {"description": "The name that the customer sees", "example": "Shoes"}
QUANTITY = {"description": "How many pieces", "example": 1}
MAX_QUANTITY = 1_000_000
WHERE_PAID = "Where the customer goes once the order is paid; `payment_order_id` and `status` are added to its query"
WHERE_CANCELLED = "Where the customer goes who does not want to pay; with the same two parameters"
WHERE_FAILED = "Where the customer goes when the order has failed; with the same two parameters"
_LOST_PLUS = re.compile(r"[^T]*T[^ ]* [0-9]{2}:?[0-9]{2}", re.ASCII)
ORDER_EXAMPLE = "po_01kjmr9fr06kyra5w92xqnbd0m4c7t3j8vf"


class MomentField(fields.Field[datetime]):
    """A moment in ISO 8601 with its offset from UTC."""

    shape: ClassVar[Mapping[str, Any]] = {"type": "string", "format": "date-time"}
    default_error_messages = {"required": "Required", "null": "Expected string, received null"}  # noqa: RUF012 - marshmallow's type

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> datetime:
        if not isinstance(value, str):
            raise expected("string", value)
        if _LOST_PLUS.fullmatch(value):
            raise ValidationError("Expected + before the offset, which an address writes as %2B: a bare + is a space")
        try:
            moment = datetime.fromisoformat(value)
            return moment.astimezone(UTC) if moment.tzinfo else self._refuse()
        except (ValueError, OverflowError):
            return self._refuse()

    def _refuse(self) -> datetime:
        raise ValidationError("Expected a moment in ISO 8601 with a time zone, written as YYYY-MM-DDThh:mm:ssZ")


class NewUnitPriceSchema(BaseSchema):
    """The price of one piece: ``amount / 10**decimals`` of the order's currency."""

    amount = PriceAmount(required=True, minimum=0, metadata={"description": PIECE_AMOUNT, "example": 25_000_000})
    decimals = IntegerField(required=True, minimum=0, maximum=MAX_DECIMALS, metadata=DECIMALS)
    currency = TextField(max_length=32, metadata={"description": "The order's currency, also without it"})


class NewLineItemSchema(BaseSchema):
    """One thing that is sold."""

    title = VisibleText(required=True, max_length=200, metadata=TITLE)
    quantity = IntegerField(required=True, minimum=1, maximum=MAX_QUANTITY, metadata=QUANTITY)
    description = TextField(min_length=0, max_length=800, metadata={"description": "Shown below the name"})
    image_url = UrlField(
        metadata={
            "description": "A picture, over https; in test mode over plain http too, which the page does not show"
        }
    )
    unit_price = ObjectField(
        NewUnitPriceSchema,
        metadata={"description": "Of one piece; where all items have one, they add up to the order's"},
    )


class NewOrderPriceSchema(BaseSchema):
    """The total price: ``amount / 10**decimals`` of the currency."""

    currency = TextField(required=True, max_length=32, metadata=CURRENCY)
    amount = PriceAmount(required=True, metadata={"description": AMOUNT, "example": 25_000_000})
    decimals = IntegerField(required=True, minimum=0, maximum=MAX_DECIMALS, metadata=DECIMALS)


class NewPaymentLinkSchema(HttpsInLive):
    """What is sold for how much, and where the customer goes afterwards."""

    https_in_live = (*CALLBACKS, "line_items.image_url")

    line_items = ListField(
        ObjectField(NewLineItemSchema),
        required=True,
        min_length=1,
        max_length=100,
        metadata={"description": "What is sold; the customer sees it"},
    )
    order_price = ObjectField(NewOrderPriceSchema, required=True, metadata={"description": "What it costs in total"})
    env_mode = EnvModeField(required=True, metadata={"description": "The environment, which has to be the key's"})
    success_callback_url = UrlField(required=True, metadata={"description": WHERE_PAID})
    cancel_callback_url = UrlField(required=True, metadata={"description": WHERE_CANCELLED})
    failure_callback_url = UrlField(required=True, metadata={"description": WHERE_FAILED})
    metadata = FreeObject(
        metadata={
            "description": "Whatever the merchant wants back with the order and its events; at most 16 kB of JSON",
            "example": {"cart": "7"},
        }
    )
    expires_at = MomentField(metadata={"description": "30 minutes to 30 days from now; 24 hours from now without it"})


EXAMPLE = {
    "line_items": [{"title": "Shoes", "quantity": 1}],
    "order_price": {"currency": "USDC", "amount": 25_000_000, "decimals": 6},
    "env_mode": "test",
    "success_callback_url": "https://shop.example/paid",
    "cancel_callback_url": "https://shop.example/cart",
    "failure_callback_url": "https://shop.example/failed",
    "metadata": {"cart": "7"},
}
"""25 USDC for a pair of shoes."""


class OrderPriceAnswer(AnswerSchema):
    """The total price, as it was given."""

    currency = fields.String(metadata=CURRENCY)
    amount = fields.Integer(
        metadata={"description": "In units of ``10**-decimals`` of the currency; up to 2^256-1", "example": 25_000_000}
    )
    decimals = fields.Integer(metadata=DECIMALS)
    amount_string = Digits("The amount again, for readers that lose digits past 2^53")


class PaymentLinkAnswer(AnswerSchema):
    """A payment link; the first answer to a request, which a version before gave and a repetition gets, is shorter."""

    sometimes = frozenset({"expires_at", "order_price"})

    payment_order_id = Text("Id of the new order", example=ORDER_EXAMPLE)
    payment_url = UrlText("Where to send the customer", example=f"https://pay.example/payment/{ORDER_EXAMPLE}")
    expires_at = Moment("Until when the customer may pay")
    order_price = fields.Nested(OrderPriceAnswer, metadata={"description": "What it costs: compare it with your own"})
