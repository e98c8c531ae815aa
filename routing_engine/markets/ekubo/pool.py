"""Ekubo pools (EVM, versions 2 and 3) without an extension that changes amounts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self

import numpy as np

from routing_engine.amm.ekubo.swap_loop import FEE_SCALE, MAX_AMOUNT, Tick, swap
from routing_engine.amm.ekubo.ticks import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    round_ratio,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)
from routing_engine.amm.integer_search import least_input
from routing_engine.curves.curve import Curve
from routing_engine.errors import Refusal
from routing_engine.market import Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.closed import CLOSED_PIECES
from routing_engine.markets.common.codecs import TICKS, BigInt
from routing_engine.markets.common.pair import PairMarket
from routing_engine.markets.common.record import require
from routing_engine.markets.common.state import advance
from routing_engine.markets.common.ticks import sum_active
from routing_engine.markets.ekubo.curve import build_pieces, spot_price
from routing_engine.model import Fee, Hop, Token


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EkuboPool(PairMarket):
    """A pool of Ekubo's concentrated liquidity, or of liquidity over the whole range.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    token0, token1 : Token
        In the order of the contract, in which the native coin comes first.
    fee_x64 : int
        Share of the input that liquidity providers keep, as a fraction of 2**64.
    tick_spacing : int
        Indices of ticks are multiples of it; 0 for liquidity over the whole range only.
    sqrt_ratio : int
        Square root of token 1 per token 0, 64.128, as the contract rounds it.
    tick : int
        Its tick.
    liquidity : int
        Active at `tick`.
    ticks : tuple of (int, int)
        All initialised ticks as (index, liquidity delta), in rising order.
    gas, gas_per_tick : int
        Gas units of a swap, and of each initialised tick it crosses.

    Raises
    ------
    InvalidMarket
        If tokens, fee, price or liquidity are out of bounds. `validate` checks the ticks too.
    """

    kind: ClassVar[str] = "ekubo"
    has_depth: ClassVar[bool] = True

    id: str
    protocol: str
    token0: Token
    token1: Token
    fee_x64: BigInt
    tick_spacing: int
    sqrt_ratio: BigInt
    tick: int
    liquidity: BigInt
    ticks: Annotated[tuple[Tick, ...], TICKS]
    gas: int = 110_000
    gas_per_tick: int = 20_000

    def __post_init__(self) -> None:
        self.check_pair()
        require(0 <= self.fee_x64 < FEE_SCALE, "fee_x64", "must be from 0 to 2**64 - 1")
        require(self.tick_spacing >= 0, "tick_spacing", f"must be 0 or more, not {self.tick_spacing}")
        within = MIN_SQRT_RATIO <= self.sqrt_ratio <= MAX_SQRT_RATIO
        rounded = within and round_ratio(self.sqrt_ratio, up=False) == self.sqrt_ratio
        require(rounded, "sqrt_ratio", "must be a 64.128 square root within the contract's range, rounded as it does")
        require(0 <= self.liquidity < 2**128, "liquidity", "must be from 0 to 2**128 - 1")

    def validate(self) -> None:
        """Check that price, tick, liquidity and the initialised ticks agree.

        Raises
        ------
        InvalidMarket
            With the field at fault.
        """
        expected = tick_at_sqrt_ratio(self.sqrt_ratio)
        # A fall exactly onto a tick leaves the tick one below its price.
        fallen = self.tick == expected - 1 and sqrt_ratio_at_tick(expected) == self.sqrt_ratio
        require(fallen or self.tick == expected, "tick", f"must be {expected}, that of sqrt_ratio, not {self.tick}")
        active = sum_active(self.ticks, self.tick, self.tick_spacing, (MIN_TICK, MAX_TICK))
        agrees = self.tick_spacing == 0 or active == self.liquidity
        require(agrees, "liquidity", f"is {self.liquidity}, but the ticks add up to {active}")

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Both directions, without those in which no unit can be bought."""
        both = ((self.token0, self.token1), (self.token1, self.token0))
        return tuple(edge for edge in both if swap(self, edge[0] == self.token0, MAX_AMOUNT).amount_out > 0)

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        zero_for_one = self.is_zero_for_one(token_in, token_out)
        if amount_in <= 0:
            self.refuse_low(amount_in)
        done = swap(self, zero_for_one, min(amount_in, MAX_AMOUNT))
        if not done.filled or amount_in > MAX_AMOUNT:
            detail = f"at most {done.amount_in} until the liquidity ends"
            self.refuse(Refusal.INSUFFICIENT_LIQUIDITY, detail)
        if done.amount_out == 0:
            self.refuse_low(amount_in)
        fees = (Fee(amount=done.fee_amount, token=token_in, name="lp_fee"),)
        price = self.spot_price(token_in, token_out)
        gas = self.gas + self.gas_per_tick * done.crossed
        hop = self.make_hop(token_in, token_out, amount_in, done.amount_out, gas=gas, spot_price=price, fees=fees)
        after = advance(self, sqrt_ratio=done.sqrt_ratio, tick=done.tick, liquidity=done.liquidity)
        return hop, after

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Search the input, from a guess by the float64 curve; see `BaseMarket`."""
        zero_for_one = self.is_zero_for_one(token_in, token_out)
        most = swap(self, zero_for_one, MAX_AMOUNT)
        if most.amount_out < amount_out:
            return None
        guess = self.curve(token_in, token_out).inverse(float(amount_out))
        first = most.amount_in if guess != guess else int(min(guess, float(most.amount_in))) + 1

        def gives(amount_in: int) -> int:
            return swap(self, zero_for_one, amount_in).amount_out

        found = least_input(gives, amount_out, first, most.amount_in)
        # What a step needs at least may leave its price one bit before the tick, and buy a little less.
        return found or least_input(gives, amount_out, most.amount_in, self._most(zero_for_one))

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that buys one unit to what exhausts the liquidity; minimum above maximum when closed."""
        least = self.least_input(token_in, token_out, 1)
        return Limits(least, self._most(self.is_zero_for_one(token_in, token_out))) if least else CLOSED

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. In a gap that of the first liquidity met, 0 without any."""
        return spot_price(self, self.is_zero_for_one(token_in, token_out))

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One Möbius piece per interval between initialised ticks."""
        pieces, x_max = build_pieces(self, self.is_zero_for_one(token_in, token_out))
        curve = Curve(
            pieces=np.array(pieces) if pieces else CLOSED_PIECES,
            x_max=min(x_max, float(MAX_AMOUNT)),
            gas=float(self.gas),
            gas_per_piece=float(self.gas_per_tick),
        )
        return replace(curve, x_min=curve.inverse(1.0)) if pieces else curve

    def _most(self, zero_for_one: bool) -> int:
        """Return the greatest input that is used up: more than reaches the last tick, where rounding keeps it there."""
        reached = swap(self, zero_for_one, MAX_AMOUNT).amount_in
        first = least_input(lambda amount: not swap(self, zero_for_one, amount).filled, 1, reached + 1, MAX_AMOUNT)
        return MAX_AMOUNT if first is None else first - 1
