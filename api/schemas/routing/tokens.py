"""Wire format of tokens and chains."""

from __future__ import annotations

from marshmallow import ValidationError, fields, validates

from api.context import get_resources
from api.schemas.base import AnswerSchema, BaseSchema
from api.schemas.fields.limited import CountField, SupportedChain
from api.schemas.fields.plain import TextField
from api.schemas.fields.texts import Moment, Text
from api.services.routing.token_list import UNKNOWN_CURSOR, is_listed

DEFAULT_LIMIT = 250
MAX_LIMIT = 1000


class NativeCurrencySchema(AnswerSchema):
    """The coin that pays for gas on a chain."""

    name = Text("Its name", example="Ether")
    symbol = Text("Its symbol", example="ETH")
    decimals = fields.Integer(metadata={"description": "Its decimal places", "example": 18})


class ChainSchema(AnswerSchema):
    """A chain."""

    chainId = fields.Integer(metadata={"description": "The chain's id", "example": 1})
    name = Text("Its name", example="Ethereum")
    logoURI = Text("URL of a logo")
    nativeCurrency = fields.Nested(NativeCurrencySchema, metadata={"description": "What pays for its gas"})


class TokenSchema(AnswerSchema):
    """A token, on all of its chains."""

    symbol = Text("Its symbol", example="USDC")
    decimals = fields.Integer(metadata={"description": "Its decimal places", "example": 6})
    name = Text("Its name", example="USD Coin")
    logoURI = Text("URL of a logo; empty for a token that is not a listed one")
    chain_to_address = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        metadata={
            "description": "Address on each chain, by chain id, in the mixed case of EIP-55",
            "example": {"1": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"},
        },
    )
    chains = fields.List(fields.Nested(ChainSchema), metadata={"description": "The chains that it is on"})
    tags = fields.List(
        fields.String(),
        metadata={
            "description": "Any of `native`, `wrapped_native`, `stablecoin`, `bridged`, `liquid_staking`, "
            "`yield_bearing`. A bridged token is another token than the one it stands for."
        },
    )


class RouteTokenSchema(TokenSchema):
    """A token in a route: as in the list of tokens, or its key alone with `tokens=once`."""

    sometimes = frozenset(("symbol", "decimals", "name", "logoURI", "chain_to_address", "chains", "tags", "key"))

    key = Text("Only with `tokens=once`, and then alone: the token's key in `tokens` of the answer", example="USDC")


class TokenListSchema(AnswerSchema):
    """A page of the list of tokens."""

    tokens = fields.List(fields.Nested(TokenSchema), metadata={"description": "The tokens of this page"})
    chains = fields.List(fields.Nested(ChainSchema), metadata={"description": "All chains that are supported"})
    updated_at = Moment("When the market last changed")
    next_cursor = Text("Send it as `cursor` for the next page; null on the last one", allow_none=True)


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

    @validates("cursor")
    def refuse_unknown_cursor(self, cursor: str, **_: object) -> None:
        """Refuse what no page ends with, together with whatever else is wrong."""
        if not is_listed(get_resources().market.snapshot.tokens, cursor):
            raise ValidationError(UNKNOWN_CURSOR)
