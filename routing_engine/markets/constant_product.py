"""Pools of two reserves whose product never falls: Uniswap v2 and its forks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from routing_engine.amm.constant_product import MAX_RESERVE, get_amount_in, get_amount_out
from routing_engine.curves.curve import Curve
from routing_engine.errors import InvalidMarket, Refusal
from routing_engine.fixed_point import PIPS, mul_div_up
from routing_engine.market import Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.codecs import BigInt
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pair import PairMarket, check_fee
from routing_engine.markets.common.pool_fields import (
    Pool,
    name_protocol,
    read_fee_pips,
    read_reserves,
    require_two,
)
from routing_engine.markets.common.state import advance
from routing_engine.model import Fee, Hop, Token


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ConstantProductPool(PairMarket):
    """A Uniswap v2 pair, or a fork of it with another fee.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    token0, token1 : Token
        In the order of the contract.
    reserve0, reserve1 : int
        Smallest units, each below 2**112.
    fee_pips : int
        Share of the input that stays in the pool.
    gas : int
        Gas units of one swap.

    Raises
    ------
    InvalidMarket
        If tokens, reserves or fee are impossible.
    """

    kind: ClassVar[str] = "constant_product"
    has_depth: ClassVar[bool] = True
    is_constant_product: ClassVar[bool] = True
    rounds_up: ClassVar[bool] = False

    id: str
    protocol: str
    token0: Token
    token1: Token
    reserve0: BigInt
    reserve1: BigInt
    fee_pips: int
    gas: int = 120_000

    def __post_init__(self) -> None:
        self.check_pair()
        check_fee(self.fee_pips)
        if not (0 <= self.reserve0 <= MAX_RESERVE and 0 <= self.reserve1 <= MAX_RESERVE):
            field = "reserve1" if 0 <= self.reserve0 <= MAX_RESERVE else "reserve0"
            raise InvalidMarket(field, "must be from 0 to 2**112 - 1, in smallest units")

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        hop = self.quote_exact_in(token_in, token_out, amount_in)
        zero_for_one = self.is_zero_for_one(token_in, token_out)
        reserve_in, reserve_out = self._reserves(zero_for_one)
        reserve_in, reserve_out = reserve_in + amount_in, reserve_out - hop.amount_out
        if zero_for_one:
            return hop, advance(self, reserve0=reserve_in, reserve1=reserve_out)
        return hop, advance(self, reserve0=reserve_out, reserve1=reserve_in)

    def quote_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> Hop:
        """Return the hop of `swap_exact_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        fee_pips, reserve_in, reserve_out = self.fee_pips, self.reserve0, self.reserve1
        is_there = token_in is self.token0 and token_out is self.token1  # spares a call in half of all cases
        if not (is_there or self.is_zero_for_one(token_in, token_out)):
            reserve_in, reserve_out = reserve_out, reserve_in
        if amount_in + reserve_in > MAX_RESERVE:
            detail = f"at most {MAX_RESERVE - reserve_in}, as the reserve is a uint112"
            self.refuse(Refusal.AMOUNT_TOO_HIGH, detail)
        amount_out = get_amount_out(amount_in, reserve_in, reserve_out, fee_pips) if amount_in > 0 else 0
        if amount_out == 0:
            self.refuse_low(amount_in)
        return Hop(
            market_id=self.id,
            protocol=self.protocol,
            token_in=token_in,
            token_out=token_out,
            amount_in=amount_in,
            amount_out=amount_out,
            fees=(Fee(amount=mul_div_up(amount_in, fee_pips, PIPS), token=token_in, name="lp_fee"),),
            gas=self.gas,
            spot_price=_spot_price(reserve_in, reserve_out, fee_pips),
        )

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Invert exactly; see `BaseMarket`."""
        reserve_in, reserve_out = self._reserves(self.is_zero_for_one(token_in, token_out))
        if amount_out >= reserve_out or reserve_in == 0:
            return None
        amount_in = get_amount_in(amount_out, reserve_in, reserve_out, self.fee_pips)
        return amount_in if amount_in + reserve_in <= MAX_RESERVE else None

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that buys one unit to what is left of a uint112; minimum above maximum when closed."""
        reserve_in, _ = self._reserves(self.is_zero_for_one(token_in, token_out))
        least = self.least_input(token_in, token_out, 1)
        return Limits(least, MAX_RESERVE - reserve_in) if least else CLOSED

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 for an empty pool."""
        return _spot_price(*self._reserves(self.is_zero_for_one(token_in, token_out)), self.fee_pips)

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One Möbius piece."""
        reserve_in, reserve_out = self._reserves(self.is_zero_for_one(token_in, token_out))
        limits = self.limits(token_in, token_out)
        kept = 1.0 - self.fee_pips / PIPS
        return Curve(
            pieces=np.array([[0.0, 0.0, kept * reserve_out, float(reserve_in), kept]]),
            x_min=float(limits.min_amount_in),
            x_max=float(limits.max_amount_in),
            gas=float(self.gas),
        )

    def _reserves(self, zero_for_one: bool) -> tuple[int, int]:
        """Give (reserve in, reserve out)."""
        return (self.reserve0, self.reserve1) if zero_for_one else (self.reserve1, self.reserve0)


def curve_columns(
    reserve_in: npt.NDArray[np.float64], reserve_out: npt.NDArray[np.float64], fee_pips: npt.NDArray[np.float64]
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the curves of many pools at once, as columns named like the fields of an edge.

    To within rounding what `ConstantProductPool.curve` says of each. Where `x_min`, the input that buys one unit, is 0
    or exceeds `x_max`, the direction is closed.
    """
    kept = 1.0 - fee_pips / PIPS
    spare = kept * (reserve_out - 1.0)
    return {
        "a": kept * reserve_out,
        "b": reserve_in,
        "c": kept,
        "x_min": np.divide(reserve_in, spare, out=np.zeros_like(spare), where=spare > 0.0),
        "x_max": MAX_RESERVE - reserve_in,
    }


def _spot_price(reserve_in: int, reserve_out: int, fee_pips: int) -> float:
    return (1.0 - fee_pips / PIPS) * reserve_out / reserve_in if reserve_in else 0.0


def build(pool: Pool, market_id: str, tokens: list[Token]) -> ConstantProductPool:
    """Build a Uniswap v2 pair or a fork of it."""
    token0, token1 = require_two(tokens)
    reserve0, reserve1 = read_reserves(pool, 2)
    return ConstantProductPool(
        id=market_id,
        protocol=name_protocol(pool, "cpmm"),
        token0=token0,
        token1=token1,
        reserve0=reserve0,
        reserve1=reserve1,
        fee_pips=read_fee_pips(pool),
    )


def build_kyber(pool: Pool, market_id: str, tokens: list[Token]) -> ConstantProductPool:
    """Build a pair from Kyber's record, which names the fee as its source does."""
    return build({**pool, "fee": pool.get("kyber_swapFee")}, market_id, tokens)


KIND = MarketKind(market=ConstantProductPool, pool_readers={"cpmm": build, "uniswap": build_kyber})
