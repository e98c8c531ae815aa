"""Wire format of routes."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from marshmallow import fields

from api.schemas.addresses import Address
from api.schemas.base import AnswerSchema, BaseSchema
from api.schemas.fields import AmountField
from api.schemas.pairs import DEFAULT_SPLITS, PairSchema
from api.schemas.routing_fields import ChoiceField, CountField, ProtocolsField, SupportedChain
from api.schemas.texts import Digits, Moment, Text
from api.schemas.tokens import RouteTokenSchema, TokenSchema
from api.services.routing.query import MAX_SLIPPAGE_BPS
from routing_engine.objective import OBJECTIVES
from routing_engine.request import DEFAULT_MAX_HOPS, MAX_ALTERNATIVES, MAX_HOPS, MAX_SPLITS

USDC_ETHEREUM = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
USDC_BASE = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
EXAMPLE = {
    "fromToken": USDC_ETHEREUM,
    "toToken": USDC_BASE,
    "fromChainId": "1",
    "toChainId": "8453",
    "inputAmount": "2500000000",
}
"""2,500 USDC from Ethereum to Base."""


class TokenShape(StrEnum):
    """Where an answer describes its tokens."""

    INLINE = "inline"
    ONCE = "once"


class RoutePair(PairSchema):
    """The properties of the interface, in its order."""

    amount_in_names: ClassVar[tuple[str, ...]] = ("inputAmount",)
    amount_out_names: ClassVar[tuple[str, ...]] = ("outputAmount",)

    from_token = Address(
        required=True,
        data_key="fromToken",
        metadata={
            "description": "Address of the source token in any case. The chain's own coin is "
            "`0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE`; the zero address means it too.",
            "example": USDC_ETHEREUM,
        },
    )
    to_token = Address(
        required=True,
        data_key="toToken",
        metadata={"description": "Address of the destination token.", "example": USDC_BASE},
    )
    from_chain = SupportedChain(
        required=True,
        data_key="fromChainId",
        metadata={"description": "Chain id of the source token, as a string or an integer.", "example": "1"},
    )
    to_chain = SupportedChain(
        required=True,
        data_key="toChainId",
        metadata={"description": "Chain id of the destination token.", "example": "8453"},
    )
    amount_in = AmountField(
        data_key="inputAmount",
        metadata={
            "description": "How much of the source token to swap, in its smallest unit; required unless "
            "`outputAmount` is given.",
            "example": "2500000000",
        },
    )
    amount_out = AmountField(
        data_key="outputAmount",
        metadata={
            "description": "Instead of `inputAmount`: how much of the destination token must arrive. The route is "
            "then the one that needs the least."
        },
    )


class RouteQuerySchema(RoutePair):
    """A question for routes."""

    order = ChoiceField(
        tuple(OBJECTIVES),
        metadata={
            "description": "`cheapest` (default): most output after gas. `fastest`: least time. `balanced`: "
            "one minute of waiting weighs as much as 0.01 % of the amount."
        },
    )
    slippage_bps = CountField(
        minimum=0,
        maximum=MAX_SLIPPAGE_BPS,
        data_key="slippageBps",
        metadata={
            "description": "Tolerated loss until execution in 1/10000; decides `outputAmountMin`. Default: 30 between "
            "stablecoins, else 50."
        },
    )
    max_hops = CountField(
        minimum=1,
        maximum=MAX_HOPS,
        data_key="maxHops",
        metadata={"description": f"At most how many steps one after the other. Default: {DEFAULT_MAX_HOPS}."},
    )
    max_splits = CountField(
        minimum=1,
        maximum=MAX_SPLITS,
        data_key="maxSplits",
        metadata={"description": f"At most how many paths side by side. Default: {DEFAULT_SPLITS}."},
    )
    allow_protocols = ProtocolsField(
        data_key="allowProtocols",
        metadata={"description": "Use these protocols only."},
    )
    deny_protocols = ProtocolsField(
        data_key="denyProtocols",
        metadata={"description": "Never use these protocols."},
    )
    alternatives = CountField(
        minimum=0,
        maximum=MAX_ALTERNATIVES,
        metadata={"description": "How many further routes to return in `alternatives`. Default: 0."},
    )


class RouteShapeQuery(BaseSchema):
    """How the answer is written."""

    tokens = ChoiceField(
        tuple(TokenShape),
        load_default=TokenShape.INLINE,
        metadata={
            "description": "`inline` (default): each step and fee has its tokens whole. `once`: they have only the "
            "`key` of each, and `tokens` of the answer has every token by its key; that is a sixth to a twelfth as "
            "long."
        },
    )


class FeeSumSchema(AnswerSchema):
    """One currency's fees together."""

    amount = Digits("In the smallest unit of the currency", example="1250000")
    currency = fields.Nested(RouteTokenSchema, metadata={"description": "The token that it is paid in"})


class FeeSchema(FeeSumSchema):
    """One fee of one step."""

    name = Text("What it is for, such as `lp_fee`, `relayer_fee` or `gas`", example="lp_fee")
    included = fields.Boolean(
        metadata={"description": "True: `outputAmount` is what remains after it. False: paid on top, as gas is."}
    )


class StepSchema(AnswerSchema):
    """What one protocol does."""

    protocol = Text("The bridge or exchange that does it", example="uniswap_v3")
    fromToken = fields.Nested(RouteTokenSchema, metadata={"description": "What it takes"})
    toToken = fields.Nested(RouteTokenSchema, metadata={"description": "What it gives"})
    fromChainId = fields.Integer(metadata={"description": "The chain that it begins on", "example": 1})
    toChainId = fields.Integer(metadata={"description": "The chain that it ends on", "example": 8453})
    inputAmount = Digits("Smallest unit of `fromToken`")
    outputAmount = Digits("Smallest unit of `toToken`")
    estimatedTime = Text("Whole seconds; a step in the same transaction as the one before adds none", example="17")
    fees = fields.List(fields.Nested(FeeSchema), metadata={"description": "What it costs"})


class AlternativeSchema(AnswerSchema):
    """A route from the source token to the destination token."""

    id = Text("Id of the route", example="rt_01kx3v8m2qk8w4m9n5t7b2c6d1f0g3h8j4")
    steps = fields.List(
        fields.Nested(StepSchema),
        metadata={"description": "In an order in which they can run; paths side by side start at the same token."},
    )
    estimatedTime = Text("Whole seconds for the whole route", example="17")
    totalFees = fields.List(fields.Nested(FeeSumSchema), metadata={"description": "Fees of all steps by currency"})
    inputAmount = Digits("What the source is charged")
    inputAmountMax = Digits("With `outputAmount` given: the most that may be charged after slippage")
    outputAmount = Digits("What arrives at the present state of the markets, exactly")
    outputAmountMin = Digits("What arrives at least after slippage")
    priceImpactBps = fields.Integer(metadata={"description": "Loss by the amount's own size, in 1/10000", "example": 3})
    gas = Digits("Gas units of all steps, an estimate", example="210000")
    expiresAt = Moment("Until when it holds: 60 s after the answer")
    snapshotId = Text("Content hash of the market data that the route rests on")
    optimalityGapBps = fields.Float(
        allow_none=True,
        metadata={
            "description": "How much better, in 1/10000, any other route of `optimalityGapScope` could be net of gas, "
            "proven; over any number of parallel paths. Null: nothing is proven, as for alternatives."
        },
    )
    optimalityGapScope = fields.String(
        allow_none=True,
        metadata={
            "description": "The routes that `optimalityGapBps` speaks of: `routes_up_to_4_hops`, over so many markets "
            "in series, or `all_flows`, over any number. Null where there is no gap.",
            "example": "routes_up_to_4_hops",
        },
    )
    optimalityGapAllFlowsBps = fields.Float(
        allow_none=True,
        metadata={
            "description": "The same against every route, over any number of markets in series. Null where it is not "
            "known: only where gas counts and costs little beside the amount."
        },
    )
    optimalityGapReason = fields.String(
        metadata={"description": "Why nothing is proven; empty where `optimalityGapBps` is a number", "example": ""}
    )


class UnavailableSchema(AnswerSchema):
    """A source of rates that could not be asked."""

    protocol = Text("Its name", example="across")
    reason = Text("Why", example="STALE: it does not answer since 2026-03-01T12:00:00.000Z")


class RouteSchema(AlternativeSchema):
    """The best route."""

    sometimes = frozenset({"alternatives", "tokens", "unavailable"})

    alternatives = fields.List(
        fields.Nested(AlternativeSchema), metadata={"description": "Further routes; only where they were asked for"}
    )
    tokens = fields.Dict(
        keys=fields.String(),
        values=fields.Nested(TokenSchema),
        metadata={"description": "Only with `tokens=once`: every token of the answer by its `key`"},
    )
    unavailable = fields.List(
        fields.Nested(UnavailableSchema),
        metadata={"description": "Sources of rates that this answer does without; only where there are any"},
    )
