"""What the page's scripts send."""

from __future__ import annotations

from typing import Any

from flask import Request
from marshmallow import Schema, ValidationError

from api.checkout_page.same_origin import require_same_origin
from api.domain.errors import InvalidData
from api.request_body import parse_object
from api.schemas import Address, BaseSchema, ChainIdField, TextField, TransactionHash, problems_of, refuse_unknown

MAX_ID = 64


class QuoteBody(BaseSchema):
    """The token that the customer chose."""

    chain_id = ChainIdField(required=True, data_key="chainId")
    token_address = Address(required=True, data_key="token")


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
    payer = Address(required=True)


def read(request: Request, base_url: str, schema: type[Schema] = BaseSchema) -> dict[str, Any]:
    """Return the checked body of a request that the page itself has made.

    Raises
    ------
    Refused
        If it does not come from the page, is not JSON, lacks a property, or has one that is unknown.
    """
    require_same_origin(request, base_url)
    refuse_unknown(request.args)
    try:
        body: dict[str, Any] = schema().load(parse_object(request.get_data()))
    except ValidationError as error:
        raise InvalidData(*problems_of(error.messages)) from None
    return body
