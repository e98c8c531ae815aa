"""Pools whose liquidity is concentrated between ticks: Uniswap v3, its forks, and Uniswap v4."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self, SupportsIndex

from routing_engine.amm.concentrated.swap_loop import MAX_AMOUNT, Swapped, least_input, swap
from routing_engine.amm.concentrated.swap_math import swap_fee
from routing_engine.amm.concentrated.tick_math import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    sqrt_ratio_at_tick,
)
from routing_engine.amm.concentrated.walk import Tick
from routing_engine.curves.curve import A, B, Curve, invert_pieces
from routing_engine.errors import InvalidMarket, Refusal
from routing_engine.fixed_point import PIPS
from routing_engine.market import Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.codecs import TICKS, BigInt
from routing_engine.markets.common.pair import PairMarket, check_fee
from routing_engine.markets.common.record import require
from routing_engine.markets.common.state import advance
from routing_engine.markets.common.ticks import sum_active
from routing_engine.markets.concentrated.curve import build_pieces, spot_price
from routing_engine.markets.concentrated.positions import Position, Price, describe_state, find_spacing, read_integer
from routing_engine.model import Fee, Hop, Token


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ConcentratedPool(PairMarket):
    """A pool of Uniswap v3, of a fork with other fees and spacings (PancakeSwap v3, Slipstream), or of Uniswap v4.

    Of v4 those with a fixed fee and without hooks that act on swaps.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    token0, token1 : Token
        In the order of the contract.
    fee_pips : int
        Share of the input that liquidity providers get; in v3 the protocol's part is a part of it.
    tick_spacing : int
        Indices of ticks are multiples of it.
    sqrt_price_x96, tick : int
        ``slot0``: square root of token 1 per token 0 in Q64.96, and its tick.
    liquidity : int
        Active at `tick`.
    ticks : tuple of (int, int)
        All initialised ticks as (index, liquidityNet), in rising order. A window around the price will not do, unless
        its first and last tick take all liquidity with them: a swap that leaves it would be quoted wrongly.
    protocol_fee0_pips, protocol_fee1_pips : int
        Uniswap v4: what the protocol takes, before the providers, when token 0 is sold, and when token 1 is.
    largest_amount : int
        What the contract's integers hold of either token: `MAX_AMOUNT`, or `MAX_AMOUNT_V4`.
    gas, gas_per_step : int
        Gas units of a swap are ``gas + gas_per_step * steps``, the steps being rounds of the contract's loop.

    Raises
    ------
    InvalidMarket
        If tokens, fee, spacing, price or liquidity are out of bounds. `validate` checks the ticks too.
    """

    kind: ClassVar[str] = "concentrated"
    has_depth: ClassVar[bool] = True
    rounds_up: ClassVar[bool] = False

    id: str
    protocol: str
    token0: Token
    token1: Token
    fee_pips: int
    tick_spacing: int
    sqrt_price_x96: BigInt
    tick: int
    liquidity: BigInt
    ticks: Annotated[tuple[Tick, ...], TICKS]
    protocol_fee0_pips: int = 0
    protocol_fee1_pips: int = 0
    largest_amount: BigInt = MAX_AMOUNT
    gas: int = 130_000
    gas_per_step: int = 2_000

    def __post_init__(self) -> None:
        self.check_pair()
        check_fee(self.fee_pips)
        check_fee(self.protocol_fee0_pips, "protocol_fee0_pips")
        check_fee(self.protocol_fee1_pips, "protocol_fee1_pips")
        require(0 < self.largest_amount <= MAX_AMOUNT, "largest_amount", "must be from 1 to 2**255 - 1")
        if self.tick_spacing < 1:
            raise InvalidMarket("tick_spacing", f"must be at least 1, not {self.tick_spacing}")
        if not MIN_SQRT_RATIO <= self.sqrt_price_x96 < MAX_SQRT_RATIO:
            raise InvalidMarket("sqrt_price_x96", "is outside the contract's range; give the Q64.96 square root")
        if not 0 <= self.liquidity < 2**128:
            raise InvalidMarket("liquidity", "must be from 0 to 2**128 - 1")

    @classmethod
    def from_price(
        cls,
        *,
        id: str,
        tokens: tuple[Token, Token],
        price: Price,
        positions: Iterable[Position],
        fee_pips: SupportsIndex = 3_000,
        tick_spacing: SupportsIndex | None = None,
        protocol: str = "uniswap_v3",
    ) -> Self:
        """Make a pool by hand, as people speak of one: a price, and liquidity around it.

        Parameters
        ----------
        id, fee_pips, tick_spacing, protocol
            As in the class; the spacing is Uniswap's for the fee where it has one.
        tokens : (Token, Token)
            The base and the quote, in any order of their addresses.
        price : str, int, float or Decimal
            Whole quote tokens for a whole base token, such as ``"2500.5"``.
        positions : iterable of (price, price, value)
            From which price to which, widened to the ticks around them; 0 and ``math.inf`` are the ends. The value of
            both of its tokens at the present price is in whole quote tokens.

        Raises
        ------
        InvalidMarket
            Naming the field.
        """
        fee = read_integer("fee_pips", fee_pips)
        spacing = None if tick_spacing is None else read_integer("tick_spacing", tick_spacing)
        state = describe_state(tokens, price, positions, find_spacing(fee, spacing))
        pool = cls(id=id, protocol=protocol, fee_pips=fee, **state)
        pool.validate()
        return pool

    def validate(self) -> None:
        """Check that price, tick, liquidity and the initialised ticks agree.

        Raises
        ------
        InvalidMarket
            With the field at fault.
        """
        self._validate_tick()
        active = sum_active(self.ticks, self.tick, self.tick_spacing, (MIN_TICK, MAX_TICK))
        require(active == self.liquidity, "liquidity", f"is {self.liquidity}, but the ticks add up to {active}")

    def swap_fee_pips(self, zero_for_one: bool) -> int:
        """Share of the input that liquidity providers and the protocol take together."""
        return swap_fee(self.protocol_fee0_pips if zero_for_one else self.protocol_fee1_pips, self.fee_pips)

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Both directions, without those in which no unit can be bought."""
        both = ((self.token0, self.token1), (self.token1, self.token0))
        return tuple(edge for edge in both if swap(self, edge[0] == self.token0, 1, exact_in=False).filled)

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        zero_for_one = self.is_zero_for_one(token_in, token_out)
        if amount_in <= 0:
            self.refuse_low(amount_in)
        done = swap(self, zero_for_one, min(amount_in, self.largest_amount))
        if not done.filled or amount_in > self.largest_amount:
            self.refuse(Refusal.INSUFFICIENT_LIQUIDITY, f"at most {done.amount_in} until the liquidity ends")
        if done.amount_out == 0:
            self.refuse_low(amount_in)
        return self._describe(token_in, token_out, done), self._advance(done)

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Solve the last stretch of the contract's loop; see `BaseMarket`."""
        done = self._swap_out(token_in, token_out, amount_out)
        return None if done is None else done.amount_in

    def swap_exact_out(self, token_in: Token, token_out: Token, amount_out: int) -> tuple[Hop, Self]:
        """Buy at least `amount_out` for the least input, which is known with all that its swap does; see `Market`."""
        if type(amount_out) is not int:
            self.refuse_inexact(amount_out)
        done = self._swap_out(token_in, token_out, amount_out)
        if done is None:
            self.refuse_out(amount_out)
        return self._describe(token_in, token_out, done), self._advance(done)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that buys one unit to what exhausts the liquidity; minimum above maximum when closed."""
        zero_for_one = self.is_zero_for_one(token_in, token_out)
        least = least_input(self, zero_for_one, 1)
        return Limits(least.amount_in, swap(self, zero_for_one, self.largest_amount).amount_in) if least else CLOSED

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. In a gap it is that of the first liquidity met, 0 without any."""
        zero_for_one = self.is_zero_for_one(token_in, token_out)
        if self.liquidity == 0:
            first = build_pieces(self, zero_for_one)[0][0]
            return float(first[A] / first[B])
        return spot_price(self.sqrt_price_x96, zero_for_one, self.swap_fee_pips(zero_for_one))

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One Möbius piece per interval between initialised ticks and the next edges of the bitmap's words."""
        pieces, x_max = build_pieces(self, self.is_zero_for_one(token_in, token_out))
        x_max = min(x_max, float(self.largest_amount))
        return Curve(
            pieces=pieces,
            x_min=invert_pieces(pieces, 1.0, 0.0, x_max),
            x_max=x_max,
            gas=float(self.gas + self.gas_per_step),
            gas_per_piece=float(self.gas_per_step),
        )

    def _swap_out(self, token_in: Token, token_out: Token, amount_out: int) -> Swapped | None:
        zero_for_one = self.is_zero_for_one(token_in, token_out)
        done = least_input(self, zero_for_one, amount_out) if 0 < amount_out <= self.largest_amount else None
        return done if done is not None and done.amount_in <= self.largest_amount else None

    def _validate_tick(self) -> None:
        within = MIN_TICK - 1 <= self.tick < MAX_TICK
        require(within, "tick", f"must be from {MIN_TICK - 1} to {MAX_TICK - 1}, not {self.tick}")
        lower, upper = sqrt_ratio_at_tick(max(self.tick, MIN_TICK)), sqrt_ratio_at_tick(self.tick + 1)
        # A fall exactly onto an initialised tick leaves the tick one below its price.
        matches = lower <= self.sqrt_price_x96 < upper or self.sqrt_price_x96 == upper
        require(matches, "tick", f"{self.tick} does not belong to sqrt_price_x96 {self.sqrt_price_x96}")

    def _describe(self, token_in: Token, token_out: Token, done: Swapped) -> Hop:
        return self.make_hop(
            token_in,
            token_out,
            done.amount_in,
            done.amount_out,
            fees=self._itemise(token_in, done),
            gas=self.gas + self.gas_per_step * done.steps,
            spot_price=self.spot_price(token_in, token_out),
        )

    def _itemise(self, token_in: Token, done: Swapped) -> tuple[Fee, ...]:
        """Name the protocol's part, rounded once where the contract rounds at each step, and the providers'."""
        protocol_pips = self.protocol_fee0_pips if token_in == self.token0 else self.protocol_fee1_pips
        if protocol_pips == 0:
            return (Fee(amount=done.fee_amount, token=token_in, name="lp_fee"),)
        to_protocol = min(done.fee_amount, done.amount_in * protocol_pips // PIPS)
        to_providers = Fee(amount=done.fee_amount - to_protocol, token=token_in, name="lp_fee")
        return (to_providers, Fee(amount=to_protocol, token=token_in, name="protocol_fee"))

    def _advance(self, done: Swapped) -> Self:
        return advance(self, sqrt_price_x96=done.sqrt_price_x96, tick=done.tick, liquidity=done.liquidity)
