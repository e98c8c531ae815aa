"""What reached a merchant for an order, and what goes back of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from api.domain.payments import Evidence, PaymentState
from api.schemas.base import AnswerSchema, BaseSchema
from api.schemas.fields.addresses import PayeeAddress
from api.schemas.fields.decimal_amounts import MAX_DECIMALS, RefundAmount
from api.schemas.fields.plain import IntegerField, TextField
from api.schemas.fields.texts import AddressText, Digits, HashText, MaybeAddress, MaybeHash, Moment, Text, Word
from api.schemas.orders.payment_links import ORDER_EXAMPLE
from api.services.orders.refund_views import RefundStatus

TRANSFER_EXAMPLE = "tr_01kjmr9q3n8d0w5e7x2v4b6c1m9k3j7h5gf"
REFUND_EXAMPLE = "rf_0b9d52c6e7a1f4380d6c2b7e95a3f148"
EXAMPLE = {
    "transfer": TRANSFER_EXAMPLE,
    "amount": "10000000",
    "to": "0x1f9090aae28b8a3dceadf281b0f12828e676c326",
    "note": "RMA-1042",
}
"""10 USDC of 25."""


class QuotedAnswer(AnswerSchema):
    """What a payer was quoted for something that came: what left the wallet before a swap, no chain is asked."""

    chain_id = fields.Integer(metadata={"description": "The chain that it was to be paid from", "example": 1})
    token = AddressText("The token that it was to be paid with")
    symbol = Text("The symbol of this token", example="WETH")
    decimals = fields.Integer(metadata={"description": "How many decimal places it has", "example": 18})
    amount = Digits("What it was to take at the rate of the quote, in smallest units of this token")
    amount_max = Digits("The most that the transaction that the wallet was given takes of it")
    hash = HashText("The payer's transaction, on `chain_id`: this one a chain has shown")


QUOTED = (
    "What its payer was quoted: the quote that the wallet was given last before this was seen, of those that fit what "
    "came. It is no proof of what left the wallet; null where no quote is known"
)


class TransferAnswer(AnswerSchema):
    """Something that reached the merchant for the order, whichever token it is."""

    id = Text("What `transfer` of a refund names", example=TRANSFER_EXAMPLE)
    chain_id = fields.Integer(metadata={"description": "The chain", "example": 8453})
    hash = HashText("The transaction")
    timestamp = Moment("When it was mined")
    token = AddressText("The token's address")
    amount = Digits("Smallest units of this token")
    amount_left = Digits("What no refund was asked for yet")
    sender = MaybeAddress("Whose money it was; empty where that can't be told", data_key="from", attribute="from")
    quoted = fields.Nested(QuotedAnswer, allow_none=True, metadata={"description": QUOTED})
    evidence = Word(Evidence, "Why it counts")
    status = Word(PaymentState, "How sure it is; only what is `final` can be sent back")


class RefundTransactionAnswer(AnswerSchema):
    """A transaction for the wallet at the settlement address, as wallets take it."""

    chain_id = fields.Integer(metadata={"description": "The chain", "example": 8453})
    sender = AddressText("The wallet that has to sign it", data_key="from", attribute="from")
    to = AddressText("The token's contract")
    value = Text("The chain's own coin to send along, in hexadecimal", example="0x0")
    data = Text("Calldata in hexadecimal", example="0xa9059cbb")


class RefundAnswer(AnswerSchema):
    """Something that goes back."""

    id = Text("Its id, which cancelling names", example=REFUND_EXAMPLE)
    transfer = Text("The transfer that brought it", example=TRANSFER_EXAMPLE)
    chain_id = fields.Integer(metadata={"description": "The chain", "example": 8453})
    token = AddressText("The token's address")
    amount = Digits("What was asked for, in smallest units of this token")
    amount_sent = Digits("What was really sent of it: by one transaction or several, less or more than that")
    to = AddressText("Who gets it")
    hash = MaybeHash("The last transaction that sent some of it; empty until the chain has one")
    timestamp = Moment("When that was mined; null until then", allow_none=True)
    status = Word(
        RefundStatus, "Whether the wallet has signed all of it, and whether its chain keeps it; or it was cancelled"
    )
    note = Text("The vendor's own reason or number; null without one", allow_none=True, example="RMA-1042")
    created_at = Moment("When it was asked for")
    transaction = fields.Nested(
        RefundTransactionAnswer,
        allow_none=True,
        metadata={"description": "What is to be signed of it still; null once all is sent, or it is cancelled"},
    )


class ListedRefundAnswer(RefundAnswer):
    """Something that goes back, and of which order."""

    payment_order_id = Text("The order", example=ORDER_EXAMPLE)


class RefundListAnswer(AnswerSchema):
    """A page of refunds, newest first."""

    data = fields.List(fields.Nested(ListedRefundAnswer), metadata={"description": "The refunds"})
    next_cursor = Text("Send it as `cursor` for the next page; null on the last one", allow_none=True)


class ToldRefundAnswer(RefundAnswer):
    """Something that went back, as an event told of it; one that was stored before lacks what came later."""

    sometimes = frozenset({"id", "amount_sent", "note", "created_at"})


class NewRefundSchema(BaseSchema):
    """What is to be sent back; without anything all of the order's only transfer, to whoever paid it."""

    transfer = TextField(max_length=64, metadata={"description": "Required where the order has several transfers"})
    amount = RefundAmount(
        metadata={
            "description": "In units of ``10**-decimals`` of the transfer's own token, in its smallest units without "
            "`decimals`; all that is left without"
        }
    )
    decimals = IntegerField(
        minimum=0,
        maximum=MAX_DECIMALS,
        metadata={"description": "Decimal places of `amount`, as in a price; those of the token without", "example": 6},
    )
    to = PayeeAddress(
        metadata={
            "description": "Required where who paid can't be told for certain. In mixed case its checksum (EIP-55) has "
            "to be right"
        }
    )
    note = TextField(
        max_length=500,
        metadata={
            "description": "Your own reason or number, which the refund shows again; the customer does not see it",
            "example": "RMA-1042",
        },
    )

    @validates_schema
    def refuse_decimals_of_nothing(self, data: Mapping[str, Any], **_: object) -> None:
        """Refuse decimals without what they are of: the whole would go back where a part was meant."""
        if "decimals" in data and "amount" not in data:
            raise ValidationError({"amount": ["Required beside `decimals`"]})


class CancelRefundSchema(BaseSchema):
    """Which refund is to be cancelled."""

    refund = TextField(
        required=True, max_length=64, metadata={"description": "Its id, as `refunds` of the order has it"}
    )
