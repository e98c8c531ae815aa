"""Transfers that count for no order, on the wire."""

from __future__ import annotations

from marshmallow import fields

from api.domain.env import EnvMode
from api.domain.ids import IdPrefix
from api.domain.payments import PaymentState, Unmatched
from api.schemas.base import AnswerSchema, BaseSchema
from api.schemas.fields.limited import CountField
from api.schemas.fields.paging import CursorField
from api.schemas.fields.plain import EnvModeField, TextField
from api.schemas.fields.texts import AddressText, Digits, HashText, MaybeAddress, Moment, Text, Word
from api.schemas.orders.refunds import TRANSFER_EXAMPLE
from api.schemas.orders.search import DEFAULT_PAGE, MAX_PAGE


class UnmatchedTransferQuery(BaseSchema):
    """Which part of the list is asked for."""

    env_mode = EnvModeField(metadata={"description": "The key's own environment without it"})
    limit = CountField(
        minimum=1, maximum=MAX_PAGE, load_default=DEFAULT_PAGE, metadata={"description": "At most so many"}
    )
    cursor = CursorField(IdPrefix.TRANSFER)


class AssignmentSchema(BaseSchema):
    """The order that a transfer is given to."""

    payment_order_id = TextField(
        required=True,
        max_length=64,
        metadata={"description": "Any order of the vendor, open or closed"},
    )


class UnmatchedTransferAnswer(AnswerSchema):
    """A transfer that reached the vendor and counts for no order."""

    id = Text("What it is assigned by", example=TRANSFER_EXAMPLE)
    env_mode = Word(EnvMode, "The environment of the address that it reached")
    chain_id = fields.Integer(metadata={"description": "Where it arrived", "example": 8453})
    transaction_hash = HashText("The transaction that brought it")
    timestamp = Moment("When it was mined")
    token = AddressText("The token's address")
    token_symbol = Text("Empty for a token that is not listed", example="USDC")
    token_decimals = fields.Integer(
        allow_none=True, metadata={"description": "Null for a token that is not listed", "example": 6}
    )
    amount = Digits("Smallest units of this token")
    sender = MaybeAddress("Whose money it was; empty where that can't be told", data_key="from", attribute="from")
    to = AddressText("The vendor's address that it reached")
    status = Word(PaymentState, "How sure it is that it stays on its chain")
    reason = Word(Unmatched, "Why it counts for no order")
    named_order_id = Text("The vendor's order that the transaction names; null without one", allow_none=True)
    is_bridged = fields.Boolean(
        metadata={
            "description": "Whether a bridge delivered it: then it goes to its deposit's order by itself once that "
            "deposit is known. Assign it only if that does not happen",
            "example": False,
        }
    )


class UnmatchedTransferListAnswer(AnswerSchema):
    """A page of transfers, newest first."""

    data = fields.List(fields.Nested(UnmatchedTransferAnswer), metadata={"description": "The transfers"})
    next_cursor = Text("Send it as `cursor` for the next page; null on the last one", allow_none=True)
