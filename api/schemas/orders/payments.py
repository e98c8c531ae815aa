"""Payment orders on the wire, in the interface's field order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from api.domain.env import EnvMode
from api.domain.orders import OrderStatus, StatusReason
from api.domain.simulation import PAID_IN_A_TOKEN, Action
from api.schemas.base import AnswerSchema, BaseSchema
from api.schemas.fields.addresses import Address
from api.schemas.fields.limited import ChoiceField, SupportedChain
from api.schemas.fields.plain import FlagField, FreeObject, TextField
from api.schemas.fields.texts import AddressText, Digits, HashText, MaybeHash, Moment, Text, UrlText, Word
from api.schemas.orders.payment_links import (
    DECIMALS,
    ORDER_EXAMPLE,
    QUANTITY,
    TITLE,
    WHERE_CANCELLED,
    WHERE_FAILED,
    WHERE_PAID,
    OrderPriceAnswer,
)
from api.schemas.orders.refunds import QUOTED, QuotedAnswer, RefundAnswer, TransferAnswer
from api.services.orders.payability import NotPayable


class UnitPriceAnswer(AnswerSchema):
    """The price of one piece, as it was given."""

    sometimes = frozenset({"currency"})

    amount = Digits("In units of ``10**-decimals`` of the currency")
    decimals = fields.Integer(metadata=DECIMALS)
    currency = Text("The order's currency", example="USDC")


class LineItemAnswer(AnswerSchema):
    """One thing that is sold, as it was given."""

    sometimes = frozenset({"description", "image_url", "unit_price"})

    title = fields.String(metadata=TITLE)
    quantity = fields.Integer(metadata=QUANTITY)
    description = Text("Shown below the name")
    image_url = UrlText("A picture", example="https://shop.example/shoes.jpg")
    unit_price = fields.Nested(UnitPriceAnswer, metadata={"description": "Of one piece"})


class SettlementAnswer(AnswerSchema):
    """Where and in what the merchant receives."""

    chain_id = fields.Integer(metadata={"description": "The chain", "example": 8453})
    token_address = AddressText("The token")
    token_symbol = Text("Its symbol", example="USDC")
    token_decimals = fields.Integer(metadata={"description": "Its decimal places", "example": 6})
    address = AddressText("The merchant's address")
    amount = Digits("The whole price in the token's smallest units")
    rounded_up = fields.Boolean(metadata={"description": "Whether the price was finer than the token's smallest unit"})


class TransactionAnswer(AnswerSchema):
    """A transaction that belongs to the order."""

    chain_id = fields.Integer(metadata={"description": "Its chain", "example": 8453})
    hash = HashText("Its hash")
    timestamp = Moment("When its block was made")
    quoted = fields.Nested(
        QuotedAnswer,
        allow_none=True,
        metadata={"description": f"{QUOTED}, and for what a bridge delivered: that has it beside the deposit"},
    )


class ToldTransactionAnswer(TransactionAnswer):
    """One of them, as an event told of it; one that was stored before lacks what came later."""

    sometimes = frozenset({"quoted"})


class StrandedAnswer(AnswerSchema):
    """A payment that a bridge took in and could not deliver."""

    chain_id = fields.Integer(metadata={"description": "Where the money is", "example": 10})
    token_address = AddressText("Which token it is")
    amount = Digits("How much, in its smallest units")
    bridge = Text("Which bridge has it", example="across")
    deposit_hash = HashText("The transaction that gave it to the bridge")
    owner = AddressText("Who gets it back")
    refund_hash = MaybeHash("The transaction that gave it back; empty until then")
    next_step = Text("What happens now, for people")


class TimelineAnswer(AnswerSchema):
    """One change of the order."""

    status = Word(OrderStatus, "The status since then")
    status_reason = Word(StatusReason, "Why; empty where there is nothing to say")
    at = Moment("When it changed")
    transaction_hash = MaybeHash(
        "The transaction behind the change: the payer's, a refund's where money went back, of `paid_after_close` the "
        "one that came then; empty before there was one"
    )


class PaymentOrderAnswer(AnswerSchema):
    """A payment order."""

    payment_order_id = Text("Its id", example=ORDER_EXAMPLE)
    payment_order_status = Word(OrderStatus, "Where it stands")
    env_mode = Word(EnvMode, "Its environment")
    success_callback_url = UrlText(WHERE_PAID)
    cancel_callback_url = UrlText(WHERE_CANCELLED)
    failure_callback_url = UrlText(WHERE_FAILED)
    line_items = fields.List(fields.Nested(LineItemAnswer), metadata={"description": "What is sold"})
    order_price = fields.Nested(OrderPriceAnswer, metadata={"description": "What it costs in total"})
    transaction_hash = MaybeHash("The payer's transaction on the chain it paid from; empty before there is one")
    metadata = FreeObject(
        metadata={"description": "As it was given with the link, or put in its place since", "example": {"cart": "7"}}
    )
    status_reason = Word(StatusReason, "Why it stands there; empty where there is nothing to say")
    payment_url = UrlText("Where the customer pays", example=f"https://pay.example/payment/{ORDER_EXAMPLE}")
    payable = fields.Boolean(metadata={"description": "Whether somebody may pay it as it stands now"})
    not_payable_reason = Word(NotPayable, "Why nobody may; empty where somebody may")
    amount_due = Digits(
        "What is still missing, in the settlement token's smallest units; null without a settlement", allow_none=True
    )
    amount_received = Digits("What came, in the settlement token's smallest units")
    settlement = fields.Nested(
        SettlementAnswer,
        allow_none=True,
        metadata={"description": "Where and in what the merchant receives; null where it has no account for that"},
    )
    transactions = fields.List(fields.Nested(TransactionAnswer), metadata={"description": "Each once, oldest first"})
    stranded = fields.List(
        fields.Nested(StrandedAnswer), metadata={"description": "Payments that a bridge could not deliver"}
    )
    transfers = fields.List(
        fields.Nested(TransferAnswer), metadata={"description": "What reached the merchant, whichever token it is"}
    )
    refunds = fields.List(fields.Nested(RefundAnswer), metadata={"description": "What goes back, oldest first"})
    timeline = fields.List(fields.Nested(TimelineAnswer), metadata={"description": "Every change, oldest first"})
    expires_at = Moment("Until when the customer may pay")
    created_at = Moment("When it was made")
    updated_at = Moment("When its status, or what moved for it, last changed")


class OrderChangeSchema(BaseSchema):
    """What is to change of an order."""

    metadata = FreeObject(
        required=True,
        metadata={
            "description": "All that the merchant wants back with the order from now on; at most 16 kB of JSON",
            "example": {"cart": "7", "invoice": "2026-0042"},
        },
    )


class SimulateSchema(BaseSchema):
    """What shall happen to a test order."""

    action = ChoiceField(
        Action,
        required=True,
        metadata={
            "description": "What happens. A `reorg` takes the block of this order's payment back, and with it what "
            "other test orders were paid in the same block; their payments come again within seconds"
        },
    )
    quote_id = TextField(max_length=64, metadata={"description": "Quote of this order, for paying as the payer chose"})
    chain_id = SupportedChain(metadata={"description": "With `token`: the chain that it is paid from", "example": 1})
    token = Address(
        metadata={
            "description": f"Of {', '.join(f'`{each}`' for each in PAID_IN_A_TOKEN)}: the address of the token that it "
            "is paid with, on `chain_id`; the order is quoted in it first, as its page does. `quote_id` names a quote "
            "that is there already",
            "example": "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
        }
    )
    without_reference = FlagField(
        metadata={
            "description": "With `pay`: the price reaches you and names no order, as what an exchange sends. The order "
            "stays as it is, and `payment_unmatched` tells of the transfer"
        }
    )

    @validates_schema
    def _check_token(self, data: Mapping[str, Any], **_: Any) -> None:
        given = data.keys() & {"chain_id", "token"}
        if not given:
            return
        if len(given) == 1:
            (missing,) = {"chain_id", "token"} - given
            raise ValidationError("Required beside the other: a token is one contract on one chain", missing)
        if data["action"] not in PAID_IN_A_TOKEN:
            raise ValidationError(f"Goes with {', '.join(PAID_IN_A_TOKEN)} alone", "token")
        if "quote_id" in data:
            raise ValidationError("Leave it out: with chain_id and token a quote is made", "quote_id")
        if data.get("without_reference"):
            raise ValidationError("Leave it out: a payment that names no order is in the settlement token", "token")


class OrderListAnswer(AnswerSchema):
    """A page of orders, newest first."""

    data = fields.List(fields.Nested(PaymentOrderAnswer), metadata={"description": "The orders"})
    next_cursor = Text("Send it as `cursor` for the next page; null on the last one", allow_none=True)
