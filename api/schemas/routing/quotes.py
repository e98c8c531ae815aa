"""Wire format of quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, pre_load

from api.schemas.base import AnswerSchema
from api.schemas.fields.addresses import Address
from api.schemas.fields.limited import ChoiceField, CountField, SupportedChain
from api.schemas.fields.plain import AmountField
from api.schemas.fields.texts import AddressText, Digits, Moment, Text
from api.schemas.routing.pairs import PairSchema
from api.schemas.routing.queries import USDC_BASE, USDC_ETHEREUM
from api.services.routing.query import MAX_SLIPPAGE_BPS
from routing_engine.objective import OBJECTIVES

ALIASES = {"fromChain": "fromChainId", "toChain": "toChainId", "fromAmount": "inputAmount", "toAmount": "outputAmount"}
"""The names that routes use, accepted here too."""


def _alias(name: str) -> fields.String:
    """Describe a parameter by another name; `read_aliases` takes it away before the fields are read."""
    return fields.String(data_key=ALIASES[name], metadata={"description": f"Another name of `{name}`"})


class QuoteQuerySchema(PairSchema):
    """A question for a quote."""

    amount_in_names: ClassVar[tuple[str, ...]] = ("fromAmount", "inputAmount")
    amount_out_names: ClassVar[tuple[str, ...]] = ("toAmount", "outputAmount")

    from_chain = SupportedChain(
        required=True,
        data_key="fromChain",
        metadata={"description": "Chain id of the source token; also called `fromChainId`", "example": "1"},
    )
    to_chain = SupportedChain(
        required=True,
        data_key="toChain",
        metadata={"description": "Chain id of the destination token; also called `toChainId`", "example": "8453"},
    )
    from_token = Address(
        required=True,
        data_key="fromToken",
        metadata={"description": "Address of the source token", "example": USDC_ETHEREUM},
    )
    to_token = Address(
        required=True,
        data_key="toToken",
        metadata={"description": "Address of the destination token", "example": USDC_BASE},
    )
    amount_in = AmountField(
        data_key="fromAmount",
        metadata={
            "description": "Amount of the source token in its smallest unit; also called `inputAmount`; required "
            "unless `toAmount` is given",
            "example": "2500000000",
        },
    )
    amount_out = AmountField(
        data_key="toAmount",
        metadata={
            "description": "Instead of `fromAmount`: the amount of the destination token that must arrive; also called "
            "`outputAmount`"
        },
    )
    slippage_bps = CountField(
        minimum=0,
        maximum=MAX_SLIPPAGE_BPS,
        data_key="slippageBps",
        metadata={
            "description": "Tolerated loss until execution in 1/10000. Default: 30 between stablecoins, else 50",
        },
    )
    order = ChoiceField(tuple(OBJECTIVES), metadata={"description": "What is best. Default: `cheapest`"})

    from_chain_id = _alias("fromChain")
    to_chain_id = _alias("toChain")
    input_amount = _alias("fromAmount")
    output_amount = _alias("toAmount")

    @pre_load
    def read_aliases(self, data: Mapping[str, Any], **_: object) -> dict[str, Any]:
        """Read each parameter under its other name where it did not come under its own."""
        read = {name: data[name] for name in data}
        contradictions = {}
        for name, alias in ALIASES.items():
            if alias in read and read.setdefault(name, read[alias]) != read.pop(alias):
                contradictions[alias] = [f"Another name of {name}, which says something else; give one of the two"]
        if contradictions:
            raise ValidationError(contradictions)
        return read


class QuoteSchema(AnswerSchema):
    """What a swap gives at the current market rate, held for 60 seconds."""

    sometimes = frozenset({"inputAmountMax"})

    toAmount = Digits("Smallest unit of the destination token", example="2499250000")
    toAmountMin = Digits("What arrives at least after slippage; rounded down", example="2491752250")
    toToken = AddressText("The destination token", example=USDC_BASE)
    toChain = Text("Chain id of the destination token", example="8453")
    fromToken = AddressText("The source token", example=USDC_ETHEREUM)
    fromAmount = Digits("Smallest unit of the source token", example="2500000000")
    fromChain = Text("Chain id of the source token", example="1")
    inputAmountMax = Digits(
        "With `toAmount` only: what is spent at most, after slippage; rounded up", example="2512500000"
    )
    quoteId = Text("Id of the quote", example="qt_01kx3v8m2qk8w4m9n5t7b2c6d1f0g3h8j4")
    expiresAt = Moment("Until when it holds: 60 s after the answer")
    incompleteReason = fields.String(
        metadata={
            "description": "Why the search ended before it had looked at all that may be better, as for an amount far "
            "beyond what markets hold; empty where it ended by itself. Amounts are exact either way.",
            "example": "",
        }
    )


class QuoteArchiveSchema(AnswerSchema):
    """A quote with all that it rests on; `docs/formats.md` describes the file."""

    format = Text("Always `routing-engine-archive`", example="routing-engine-archive")
    version = fields.Integer(metadata={"description": "Of the format", "example": 1})
    engine = Text("Version of the engine that answered", example="0.1.0")
    search = Text("Which search was asked", example="find_routes")
    request = fields.Dict(metadata={"description": "Every field of the request to the engine"})
    answer = fields.Dict(metadata={"description": "Routes, amounts and certificates"})
    snapshot = fields.Dict(metadata={"description": "The market, in the engine's own format"})
