"""Wire format of what a wallet sends to execute a route, and of what became of it."""

from __future__ import annotations

from marshmallow import fields

from adapters.transactions.base import Purpose
from api.schemas.base import AnswerSchema, BaseSchema
from api.schemas.fields.addresses import TransactionHash
from api.schemas.fields.limited import SupportedChain
from api.schemas.fields.texts import (
    HASH_EXAMPLE,
    AddressText,
    Digits,
    HashText,
    MaybeAddress,
    MaybeHash,
    Moment,
    Text,
    Word,
)
from api.services.execution.following import ArrivalStatus, RouteStatus
from api.services.execution.offers import LegStatus


class LegTransactionSchema(AnswerSchema):
    """A transaction for the payer's wallet, as wallets take it; it was tried before it was offered."""

    purpose = Word(Purpose, "What it is for: the allowances come before what they are for")
    chainId = fields.Integer(metadata={"description": "The chain that it is sent on", "example": 1})
    sender = AddressText("The wallet that has to sign it", data_key="from", attribute="from")
    to = AddressText("The contract, or who gets the chain's own coin")
    value = Text("The chain's own coin to send along, in hexadecimal", example="0x0")
    data = Text("Calldata in hexadecimal", example="0x095ea7b3")
    gasLimit = Text("Gas limit in hexadecimal: what the trial used, and a margin", example="0x249f0")


class LegApprovalSchema(AnswerSchema):
    """An allowance that a leg needs, exactly; `transactions` give it where the payer has not given it yet."""

    token = AddressText("The token that is spent")
    spender = AddressText("Who may spend it")
    amount = Digits("How much, in the token's smallest unit")
    through = MaybeAddress("The Permit2 contract that it is given to, which is asked for it; else empty")
    until = Moment("When it ends by itself; null where it does not", allow_none=True)


class RouteLegSchema(AnswerSchema):
    """A part of a route that one transaction does, beside those that give allowances."""

    steps = fields.List(
        fields.Integer(), metadata={"description": "The route's steps that it does, counted from 0", "example": [0]}
    )
    status = Word(LegStatus, "`ready`: sign `transactions` in their order. Else why not")
    message = Text("Why it is not ready, and what helps; else empty", example="")
    fromChainId = fields.Integer(metadata={"description": "The chain that it is sent on", "example": 1})
    toChainId = fields.Integer(metadata={"description": "The chain that its output arrives on", "example": 8453})
    fromToken = AddressText("What it spends")
    toToken = AddressText("What it gives")
    sender = AddressText("Whose wallet signs it: the payer")
    recipient = AddressText("Who gets what it gives: the recipient, or the payer where another leg follows")
    inputAmountMax = Digits("The most that it spends, smallest unit of `fromToken`")
    outputAmountMin = Digits("The least that it gives, smallest unit of `toToken`; its contracts make sure")
    slippageBps = fields.Integer(
        metadata={"description": "The tolerance that the two are counted with, in 1/10000", "example": 50}
    )
    approvals = fields.List(
        fields.Nested(LegApprovalSchema), metadata={"description": "The allowances that it needs; none for the coin"}
    )
    transactions = fields.List(
        fields.Nested(LegTransactionSchema),
        metadata={"description": "What was tried, in order; empty where nothing was"},
    )
    validUntil = Moment("Ask for the route again if it is not signed by then")
    deadline = Moment("Its contracts refuse it from then on; null where they take it at any time", allow_none=True)
    fillDeadline = Moment("Until when a bridge delivers; null where there is no such moment", allow_none=True)


class RouteStatusQuery(BaseSchema):
    """Which transaction to follow."""

    chain_id = SupportedChain(
        required=True,
        data_key="chainId",
        metadata={"description": "The chain that it was sent on.", "example": 1},
    )
    transaction_hash = TransactionHash(
        required=True,
        data_key="transactionHash",
        metadata={"description": "The hash that the wallet gave", "example": HASH_EXAMPLE},
    )


class RouteDeliverySchema(AnswerSchema):
    """What a bridge took in, and what it delivered for it."""

    bridge = Text("The bridge", example="across")
    status = Word(ArrivalStatus, "Whether it has arrived")
    message = Text("Why that is not known, or what follows; else empty", example="")
    chainId = fields.Integer(
        allow_none=True, metadata={"description": "Where it arrives; null where nobody can tell", "example": 8453}
    )
    token = MaybeAddress("What arrives; empty where nobody can tell")
    recipient = MaybeAddress("Who gets it; empty where nobody can tell")
    outputAmountMin = Digits("What the bridge has to deliver, smallest unit; 0 where nobody can tell")
    outputAmount = Digits("What it delivered; null until then", allow_none=True)
    transactionHash = MaybeHash("The delivery; empty until then")
    fillDeadline = Moment("Until when it delivers; null where there is no such moment", allow_none=True)


class FollowedTransactionSchema(AnswerSchema):
    """Where the transaction of a leg stands, as its chain tells it."""

    chainId = fields.Integer(metadata={"description": "The chain that was asked", "example": 1})
    transactionHash = HashText("The transaction")
    status = Word(
        RouteStatus,
        "`mined`: it did what it should, on its chain. `bridging`: a bridge has taken in what it is to deliver",
    )
    message = Text("Why it is unknown, or has failed; else empty", example="")
    blockNumber = fields.Integer(
        allow_none=True, metadata={"description": "Its block; null while it has none", "example": 24500000}
    )
    minedAt = Moment("Its block's time; null while it has none", allow_none=True)
    confirmations = fields.Integer(
        metadata={"description": "Blocks from its own to the newest, both counted", "example": 3}
    )
    isFinal = fields.Boolean(metadata={"description": "Whether its chain calls its block final"})
    deliveries = fields.List(
        fields.Nested(RouteDeliverySchema),
        metadata={"description": "What it put into bridges, at most five; empty where that is nothing"},
    )
