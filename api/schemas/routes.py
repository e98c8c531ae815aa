"""Wire format of routes."""

from __future__ import annotations

from typing import ClassVar

from marshmallow import Schema, fields

from api.schemas.addresses import Address
from api.schemas.base import BaseSchema
from api.schemas.pairs import DEFAULT_SPLITS, PairSchema
from api.schemas.routing_fields import ChoiceField, CountField, DigitsField, ProtocolsField, SupportedChain
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
    amount_in = DigitsField(
        data_key="inputAmount",
        metadata={
            "description": "How much of the source token to swap, in its smallest unit; required unless "
            "`outputAmount` is given.",
            "example": "2500000000",
        },
    )
    amount_out = DigitsField(
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
        ("inline", "once"),
        load_default="inline",
        metadata={
            "description": "`inline` (default): each step and fee has its tokens whole. `once`: they have only the "
            "`key` of each, and `tokens` of the answer has every token by its key; answers with many steps are then "
            "a tenth as long."
        },
    )


class FeeSumSchema(Schema):
    """One currency's fees together."""

    amount = fields.String(metadata={"description": "In the smallest unit of the currency", "example": "1250000"})
    currency = fields.Nested(RouteTokenSchema)


class FeeSchema(FeeSumSchema):
    """One fee of one step."""

    name = fields.String(metadata={"description": "What it is for, such as `lp_fee`, `relayer_fee` or `gas`"})
    included = fields.Boolean(
        metadata={"description": "True: `outputAmount` is what remains after it. False: paid on top, as gas is."}
    )


class StepSchema(Schema):
    """What one protocol does."""

    protocol = fields.String(metadata={"example": "uniswap_v3"})
    fromToken = fields.Nested(RouteTokenSchema)
    toToken = fields.Nested(RouteTokenSchema)
    fromChainId = fields.Integer(metadata={"example": 1})
    toChainId = fields.Integer(metadata={"example": 8453})
    inputAmount = fields.String(metadata={"description": "Smallest unit of `fromToken`"})
    outputAmount = fields.String(metadata={"description": "Smallest unit of `toToken`"})
    estimatedTime = fields.String(
        metadata={"description": "Whole seconds; a step in the same transaction as the one before adds none"}
    )
    fees = fields.List(fields.Nested(FeeSchema))


class AlternativeSchema(Schema):
    """A route from the source token to the destination token."""

    id = fields.String(metadata={"example": "rt_01kx3v8m2qk8w4m9n5t7b2c6d1f0g3h8j4"})
    steps = fields.List(
        fields.Nested(StepSchema),
        metadata={"description": "In an order in which they can run; paths side by side start at the same token."},
    )
    estimatedTime = fields.String(metadata={"description": "Whole seconds for the whole route", "example": "17"})
    totalFees = fields.List(fields.Nested(FeeSumSchema), metadata={"description": "Fees of all steps by currency"})
    inputAmount = fields.String(metadata={"description": "What the source is charged"})
    inputAmountMax = fields.String(
        metadata={"description": "With `outputAmount` given: the most that may be charged after slippage"}
    )
    outputAmount = fields.String(metadata={"description": "What arrives at the present state of the markets, exactly"})
    outputAmountMin = fields.String(metadata={"description": "What arrives at least after slippage"})
    priceImpactBps = fields.Integer(metadata={"description": "Loss by the amount's own size, in 1/10000"})
    gas = fields.String(metadata={"description": "Gas units of all steps, an estimate"})
    expiresAt = fields.String(metadata={"description": "ISO 8601, UTC; 60 s after the answer"})
    snapshotId = fields.String(metadata={"description": "Content hash of the market data that the route rests on"})
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


class UnavailableSchema(Schema):
    """A source of rates that could not be asked."""

    protocol = fields.String(metadata={"example": "across"})
    reason = fields.String(metadata={"example": "STALE: it does not answer since 2026-03-01T12:00:00.000Z"})


class RouteSchema(AlternativeSchema):
    """The best route."""

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
