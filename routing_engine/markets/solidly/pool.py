"""Pools of the Solidly family, volatile and stable, and Camelot v2's, which charge by direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from routing_engine.curves.curve import Curve
from routing_engine.errors import Refusal
from routing_engine.fixed_point import PIPS
from routing_engine.market import UNLIMITED, Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.codecs import BigInt, make_codec
from routing_engine.markets.common.pair import PairMarket, check_fee
from routing_engine.markets.common.record import read_int, require
from routing_engine.markets.common.state import advance
from routing_engine.markets.solidly.curve import build_curve, find_price
from routing_engine.markets.solidly.direction import Fork, SolidlyDirection, make_direction
from routing_engine.model import Fee, Hop, Token

ZERO_OR_ONE = make_codec(int, lambda record, field: bool(read_int(record, field)))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SolidlyPool(PairMarket):
    """A pool of Solidly, Velodrome v1, Velodrome v2, Aerodrome or Camelot v2.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    token0, token1 : Token
        In the order of the contract.
    reserve0, reserve1 : int
        Smallest units.
    stable : bool
        Whether x**3 * y + y**3 * x is kept; else x * y.
    fork : Fork
        Whose contract it is.
    fee0_pips, fee1_pips : int
        Share of the input that is charged when token 0 is sold, and when token 1 is.
    owner_share_pips : int
        Share of the fee that a stable Camelot pool pays out at once; elsewhere 0.
    gas : int
        Gas units of one swap.

    Raises
    ------
    InvalidMarket
        If tokens, reserves or fees are impossible.
    """

    kind: ClassVar[str] = "solidly"
    has_depth: ClassVar[bool] = True

    id: str
    protocol: str
    token0: Token
    token1: Token
    reserve0: BigInt
    reserve1: BigInt
    stable: Annotated[bool, ZERO_OR_ONE]
    fork: Fork
    fee0_pips: int
    fee1_pips: int
    owner_share_pips: int = 0
    gas: int = 170_000

    def __post_init__(self) -> None:
        self.check_pair()
        check_fee(self.fee0_pips, "fee0_pips")
        check_fee(self.fee1_pips, "fee1_pips")
        require(0 <= self.reserve0 <= UNLIMITED, "reserve0", "must be from 0 to 2**256 - 1, in smallest units")
        require(0 <= self.reserve1 <= UNLIMITED, "reserve1", "must be from 0 to 2**256 - 1, in smallest units")
        require(0 <= self.owner_share_pips <= PIPS, "owner_share_pips", f"must be from 0 to {PIPS}")

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        direction = self._direction(token_in, token_out)
        amount_out = direction.quote(amount_in) if amount_in > 0 else 0
        if amount_out is None:
            reason = Refusal.INSUFFICIENT_LIQUIDITY if amount_in <= direction.most else Refusal.AMOUNT_TOO_HIGH
            self.refuse(reason, f"the contract reverts at {amount_in}")
        if amount_out == 0:
            self.refuse_low(amount_in)
        fees = (Fee(amount=direction.fee_on(amount_in), token=token_in, name="lp_fee"),)
        price = find_price(direction)
        hop = self.make_hop(token_in, token_out, amount_in, amount_out, gas=self.gas, spot_price=price, fees=fees)
        return hop, self._advance(token_in, direction.kept_of(amount_in), amount_out)

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Invert exactly; see `BaseMarket`."""
        return self._direction(token_in, token_out).least_for(amount_out)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that buys one unit to what the integers hold; minimum above maximum when closed.

        These are for searches: a stable pool is closed to them while it is too small, or too far from balance, for the
        contract's arithmetic to price single units. What its contract serves then, `swap_exact_in` still gives.
        """
        direction = self._direction(token_in, token_out)
        least = direction.least
        return Limits(least, direction.most) if least else CLOSED

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 for an empty pool."""
        return find_price(self._direction(token_in, token_out))

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One Möbius piece, or the formula of `routing_engine.curves.kernels.solidly`."""
        return build_curve(self._direction(token_in, token_out), float(self.gas))

    def _direction(self, token_in: Token, token_out: Token) -> SolidlyDirection:
        zero_for_one = self.is_zero_for_one(token_in, token_out)
        reserves = (self.reserve0, self.reserve1)
        return make_direction(
            reserves if zero_for_one else reserves[::-1],
            (token_in.decimals, token_out.decimals),
            stable=self.stable,
            fork=self.fork,
            fee_pips=self.fee0_pips if zero_for_one else self.fee1_pips,
            owner_share_pips=self.owner_share_pips,
            zero_for_one=zero_for_one,
        )

    def _advance(self, token_in: Token, kept: int, amount_out: int) -> Self:
        if token_in == self.token0:
            return advance(self, reserve0=self.reserve0 + kept, reserve1=self.reserve1 - amount_out)
        return advance(self, reserve0=self.reserve0 - amount_out, reserve1=self.reserve1 + kept)
