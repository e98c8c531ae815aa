"""What reached a merchant for an order, and what goes back of it."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.addresses import AddressAnswer, PayeeAddress
from api.schemas.base import BaseSchema
from api.schemas.fields import AmountField, TextField


class TransferAnswer(BaseSchema):
    """Something that reached the merchant for the order, whichever token it is."""

    id = fields.String(metadata={"description": "What `transfer` of a refund names"})
    chain_id = fields.Integer()
    hash = fields.String()
    token = AddressAnswer()
    amount = fields.String(metadata={"description": "Smallest units of this token"})
    amount_left = fields.String(metadata={"description": "What no refund was asked for yet"})
    sender = AddressAnswer(
        data_key="from",
        attribute="from",
        metadata={"description": "Whose money it was; empty where that can't be told"},
    )
    evidence = fields.String(metadata={"description": "Why it counts: reference, signature, bridge or assigned"})
    status = fields.String(metadata={"description": "seen, confirmed, or final: only then it can be sent back"})


class RefundTransactionAnswer(BaseSchema):
    """A transaction for the wallet at the settlement address, as wallets take it."""

    chain_id = fields.Integer()
    sender = AddressAnswer(data_key="from", attribute="from")
    to = AddressAnswer()
    value = fields.String()
    data = fields.String()


class RefundAnswer(BaseSchema):
    """Something that goes back."""

    transfer = fields.String(metadata={"description": "The transfer that brought it"})
    chain_id = fields.Integer()
    token = AddressAnswer()
    amount = fields.String()
    to = AddressAnswer()
    hash = fields.String(metadata={"description": "Empty until the chain has it"})
    status = fields.String(metadata={"description": "requested, sent or final"})
    transaction = fields.Nested(
        RefundTransactionAnswer, allow_none=True, metadata={"description": "What is to be signed; null once it is sent"}
    )


class RefundSchema(BaseSchema):
    """What is to be sent back; without anything all of the order's only transfer, to whoever paid it."""

    transfer = TextField(max_length=64, metadata={"description": "Required where the order has several transfers"})
    amount = AmountField(
        metadata={"description": "Smallest units of the transfer's own token; all that is left without"}
    )
    to = PayeeAddress(
        metadata={
            "description": "Required where who paid can't be told for certain. In mixed case its checksum (EIP-55) has "
            "to be right"
        }
    )
