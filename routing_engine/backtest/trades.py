"""What became of each thing that a strategy wanted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from routing_engine.frames.column import Column, Kind
from routing_engine.frames.tokens import describe_amounts, describe_ends
from routing_engine.model import Token
from routing_engine.route import Route
from routing_engine.values import seal


class TradeStatus(StrEnum):
    """How a trade ended."""

    FILLED = "filled"
    FAILED = "failed"
    """The transaction was sent and took nothing but its gas."""
    NOT_SENT = "not_sent"
    """There was nothing to send, or nothing to send it with: it cost nothing."""
    PENDING = "pending"
    """The recording ends before it would be filled."""


SLIPPAGE, NO_FUNDS, CROSSES_CHAINS = "SLIPPAGE", "NO_FUNDS", "CROSSES_CHAINS"
"""Reasons beside those of markets: less than the minimum came out; there is not enough to spend; a bridge is in it."""


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedTrade:
    """One trade of a backtest.

    Parameters
    ----------
    decided_block, filled_block : int
        When it was wanted, and in which block it was executed; the latter is 0 where it never was.
    token_in, token_out : Token
        What is sold and bought.
    route : Route or None
        As it was sent; None where none was found.
    minimum : int
        The least that it may bring, in smallest units of `token_out`.
    amount_out : int
        What it brought; 0 where it was not filled.
    gas : int
        Gas units paid for.
    gas_paid : int
        Wei of the chain's coin paid for gas; 0 where the gas price is not known.
    status : TradeStatus
        How it ended.
    reason : str
        Why it was not filled: a market's reason, or one of this module; empty if it was.
    market_id : str
        Which market it failed at, if one did.
    """

    decided_block: int
    token_in: Token
    token_out: Token
    status: TradeStatus
    filled_block: int = 0
    route: Route | None = None
    minimum: int = 0
    amount_out: int = 0
    gas: int = 0
    gas_paid: int = 0
    reason: str = ""
    market_id: str = ""

    @property
    def amount_in(self) -> int:
        """What was to be sold; 0 where no route was found."""
        return self.route.amount_in if self.route else 0

    @property
    def expected(self) -> int:
        """What the route gave on the market that it was found on."""
        return self.route.amount_out if self.route else 0


def describe_trades(trades: tuple[SimulatedTrade, ...]) -> tuple[Column, ...]:
    """Return a row for each trade."""
    ends = [(trade.token_in, trade.token_out) for trade in trades]
    given, taken = [end[0] for end in ends], [end[1] for end in ends]
    return (
        Column("decided_block", Kind.COUNT, [trade.decided_block for trade in trades]),
        Column("filled_block", Kind.COUNT, [trade.filled_block for trade in trades]),
        Column("status", Kind.TEXT, [str(trade.status) for trade in trades]),
        Column("reason", Kind.TEXT, [trade.reason for trade in trades]),
        *describe_amounts("expected", [trade.expected for trade in trades], taken),
        *describe_amounts("amount_out", [trade.amount_out for trade in trades], taken),
        *describe_amounts("minimum", [trade.minimum for trade in trades], taken),
        *describe_amounts("amount_in", [trade.amount_in for trade in trades], given),
        *describe_ends(ends),
        Column("gas", Kind.COUNT, [trade.gas for trade in trades], unit="gas"),
        Column("gas_paid", Kind.UNITS, [trade.gas_paid for trade in trades], unit="wei"),
        Column("markets", Kind.COUNT, [len(trade.route.hops) if trade.route else 0 for trade in trades]),
        Column("market_id", Kind.TEXT, [trade.market_id for trade in trades], is_detail=True),
    )
