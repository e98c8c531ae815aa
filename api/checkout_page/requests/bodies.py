"""What the page's scripts send."""

from __future__ import annotations

import re
from typing import Any

from flask import Request
from marshmallow import Schema, ValidationError, fields, post_load, validate

from api.bodies.request_body import parse_object
from api.checkout_page.requests.same_origin import require_same_origin
from api.domain.errors import InvalidData
from api.domain.money import UINT256_MAX
from api.schemas import (
    Address,
    BaseSchema,
    ChainIdField,
    IntegerField,
    ListField,
    ObjectField,
    TextField,
    TransactionHash,
    WholeNumber,
    problems_of,
    refuse_unknown,
)

MAX_ID = 64
MAX_SIGNATURE = 20_000
"""Hex digits: signatures of contracts hold those of several owners, or a passkey's."""
SIGNATURE = re.compile("0x([0-9a-fA-F]{2})+")
MOST_HELD = 16
MOST_TRANSFERS = 2**31 - 1


class QuoteBody(BaseSchema):
    """The token that the customer chose."""

    chain_id = ChainIdField(required=True, data_key="chainId")
    token_address = Address(required=True, data_key="token")


class HeldBody(BaseSchema):
    """What a wallet has read of its own balance."""

    chain_id = ChainIdField(required=True, data_key="chainId")
    token_address = Address(required=True, data_key="token")
    amount = WholeNumber(required=True, validate=validate.Range(min=0, max=UINT256_MAX))


class OptionsBody(BaseSchema):
    """The wallet whose ways to pay are wanted, without one those of anybody; and whether to hold the best price."""

    account = Address()
    holds_best = fields.Boolean(data_key="holdsBest", truthy={True}, falsy={False})
    held = ListField(ObjectField(HeldBody), max_length=MOST_HELD)


class PayBody(BaseSchema):
    """The quote that the customer agreed to."""

    quote_id = TextField(required=True, max_length=MAX_ID)


class WalletBody(PayBody):
    """The quote that the customer agreed to, and the wallet that is to pay it."""

    payer = Address(required=True)


class ReportBody(BaseSchema):
    """A transaction that the customer's wallet has sent."""

    chain_id = ChainIdField(required=True, data_key="chainId")
    tx_hash = TransactionHash(required=True, data_key="hash")


class ClaimQuery(ReportBody):
    """A transaction, and the wallet that says it paid with it."""

    account = Address(required=True)


class Signature(TextField):
    """Bytes as ``0x`` and hex digits."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if not SIGNATURE.fullmatch(text):
            raise ValidationError("Expected 0x and an even number of hex digits")
        return text.lower()


class ClaimBody(ClaimQuery):
    """A signature that one transfer of a transaction was this wallet's money; negative numbers are coin transfers."""

    log_index = IntegerField(required=True, data_key="logIndex", minimum=-MOST_TRANSFERS, maximum=MOST_TRANSFERS)
    signature = Signature(required=True, max_length=MAX_SIGNATURE)

    @post_load
    def decode_signature(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Give what was written in hex digits as the bytes that it is."""
        return {**data, "signature": bytes.fromhex(data["signature"].removeprefix("0x"))}


def read(request: Request, base_url: str, schema: type[Schema] = BaseSchema) -> dict[str, Any]:
    """Return the checked body of a request that the page itself has made.

    Raises
    ------
    Refused
        If it does not come from the page, is not JSON, lacks a property, or has one that is unknown.
    """
    require_same_origin(request, base_url)
    refuse_unknown(request.args)
    return _load(schema(), parse_object(request.get_data()))


def read_query(request: Request, schema: type[Schema]) -> dict[str, Any]:
    """Return the checked parameters of a request; a page ignores others.

    Raises
    ------
    InvalidData
        If one is missing or malformed.
    """
    asked = schema()
    names = {field.data_key or name for name, field in asked.load_fields.items()}
    return _load(asked, {name: value for name, value in request.args.items() if name in names})


def _load(schema: Schema, data: dict[str, Any]) -> dict[str, Any]:
    try:
        body: dict[str, Any] = schema.load(data)
    except ValidationError as error:
        raise InvalidData(*problems_of(error.messages)) from None
    return body
