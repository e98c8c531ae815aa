"""Wire format of routes."""

from __future__ import annotations

from marshmallow import fields

from api.schemas.base import AnswerSchema
from api.schemas.fields.texts import Digits, Moment, Text
from api.schemas.routing.legs import RouteLegSchema
from api.schemas.routing.tokens import RouteTokenSchema, TokenSchema


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

    sometimes = frozenset({"isFirm"})

    isFirm = fields.Boolean(
        metadata={"description": "True where the bridge has just confirmed these amounts; only in streams for a wallet"}
    )
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

    sometimes = frozenset({"legs"})

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
    legs = fields.List(
        fields.Nested(RouteLegSchema),
        metadata={"description": "Only with `payer` and `recipient`: what the wallet sends, in order"},
    )


class UnavailableSchema(AnswerSchema):
    """A source of rates that could not be asked."""

    protocol = Text("Its name", example="across")
    reason = Text("Why", example="STALE: it does not answer since 2026-03-01T12:00:00.000Z")


class RouteSchema(AlternativeSchema):
    """The best route."""

    sometimes = frozenset({"alternatives", "legs", "tokens", "unavailable"})

    alternatives = fields.List(
        fields.Nested(AlternativeSchema), metadata={"description": "Further routes; only where they were asked for"}
    )
    incompleteReason = fields.String(
        metadata={
            "description": "Why the search ended before it had looked at all that may be better, as for an amount far "
            "beyond what markets hold; empty where it ended by itself. Amounts are exact either way.",
            "example": "",
        }
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
