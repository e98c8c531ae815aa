"""Wire format of tokens and chains."""

from __future__ import annotations

from marshmallow import Schema, fields

from api.schemas.base import BaseSchema
from api.schemas.fields import TextField
from api.schemas.routing_fields import CountField, SupportedChain

DEFAULT_LIMIT = 250
MAX_LIMIT = 1000


class NativeCurrencySchema(Schema):
    """The coin that pays for gas on a chain."""

    name = fields.String(metadata={"example": "Ether"})
    symbol = fields.String(metadata={"example": "ETH"})
    decimals = fields.Integer(metadata={"example": 18})


class ChainSchema(Schema):
    """A chain."""

    chainId = fields.Integer(metadata={"example": 1})
    name = fields.String(metadata={"example": "Ethereum"})
    logoURI = fields.String()
    nativeCurrency = fields.Nested(NativeCurrencySchema)


class TokenSchema(Schema):
    """A token, on all of its chains."""

    symbol = fields.String(metadata={"example": "USDC"})
    decimals = fields.Integer(metadata={"example": 6})
    name = fields.String(metadata={"example": "USD Coin"})
    logoURI = fields.String(metadata={"description": "URL of a logo; empty for a token that is not a listed one"})
    chain_to_address = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        metadata={
            "description": "Address on each chain, by chain id, in the mixed case of EIP-55",
            "example": {"1": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"},
        },
    )
    chains = fields.List(fields.Nested(ChainSchema))
    tags = fields.List(
        fields.String(),
        metadata={
            "description": "Any of `native`, `wrapped_native`, `stablecoin`, `bridged`, `liquid_staking`, "
            "`yield_bearing`. A bridged token is another token than the one it stands for."
        },
    )


class RouteTokenSchema(TokenSchema):
    """A token in a route: as in the list of tokens, or its key alone with `tokens=once`."""

    key = fields.String(
        metadata={"description": "Only with `tokens=once`, and then alone: the token's key in `tokens` of the answer"}
    )


class TokenListSchema(Schema):
    """A page of the list of tokens."""

    tokens = fields.List(fields.Nested(TokenSchema))
    chains = fields.List(fields.Nested(ChainSchema))
    updated_at = fields.String(metadata={"description": "ISO 8601, UTC"})
    next_cursor = fields.String(
        allow_none=True, metadata={"description": "Send it as `cursor` for the next page; null on the last one"}
    )


class TokenFilter(BaseSchema):
    """Which tokens to list."""

    chain_id = SupportedChain(
        data_key="chainId", metadata={"description": "Only tokens of this chain", "example": 8453}
    )
    search = TextField(
        max_length=100,
        metadata={"description": "Only tokens with this in their symbol or name, or with this address"},
    )
    limit = CountField(
        minimum=1,
        maximum=MAX_LIMIT,
        load_default=DEFAULT_LIMIT,
        metadata={"description": f"At most so many; {DEFAULT_LIMIT} unless told"},
    )
    cursor = TextField(max_length=100, metadata={"description": "From `next_cursor` of the page before"})
