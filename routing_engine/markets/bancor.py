"""Bancor v2.1 pools of BNT and one other token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from routing_engine.amm.bancor import MAX_RESERVE, get_amount_in, get_amount_out
from routing_engine.curves.curve import Curve
from routing_engine.errors import Refusal
from routing_engine.fixed_point import PIPS
from routing_engine.market import Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.codecs import BigInt
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pair import PairMarket, check_fee
from routing_engine.markets.common.pool_fields import Pool, PoolRefused, read_fee_pips, read_reserves, require_two
from routing_engine.markets.common.record import require
from routing_engine.markets.common.state import advance
from routing_engine.model import Fee, Hop, Token

BNT = "0x1f573d6fb3f13d689ff844b4ce37794d79a7ff1c"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BancorPool(PairMarket):
    """A standard pool of Bancor v2.1.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    token0, token1 : Token
        One of them is BNT.
    reserve0, reserve1 : int
        Smallest units, each below 2**128.
    fee_pips : int
        Share of the output that stays in the pool.
    gas : int
        Gas units of one conversion.

    Raises
    ------
    InvalidMarket
        If tokens, reserves or fee are impossible.
    """

    kind: ClassVar[str] = "bancor"
    has_depth: ClassVar[bool] = True

    id: str
    protocol: str
    token0: Token
    token1: Token
    reserve0: BigInt
    reserve1: BigInt
    fee_pips: int
    gas: int = 180_000

    def __post_init__(self) -> None:
        self.check_pair()
        check_fee(self.fee_pips)
        for field, reserve in (("reserve0", self.reserve0), ("reserve1", self.reserve1)):
            require(0 <= reserve <= MAX_RESERVE, field, "must be from 0 to 2**128 - 1, in smallest units")

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        zero_for_one = self.is_zero_for_one(token_in, token_out)
        reserve_in, reserve_out = self._reserves(zero_for_one)
        if amount_in + reserve_in > MAX_RESERVE:
            detail = f"at most {MAX_RESERVE - reserve_in}, as the reserve is a uint128"
            self.refuse(Refusal.AMOUNT_TOO_HIGH, detail)
        if amount_in <= 0:
            self.refuse_low(amount_in)
        amount_out, fee = get_amount_out(amount_in, reserve_in, reserve_out, self.fee_pips)
        if amount_out == 0 or reserve_in == 0:
            self.refuse_low(amount_in)
        fees = (Fee(amount=fee, token=token_out, name="lp_fee"),)
        price = self.spot_price(token_in, token_out)
        hop = self.make_hop(token_in, token_out, amount_in, amount_out, gas=self.gas, spot_price=price, fees=fees)
        left = (reserve_in + amount_in, reserve_out - amount_out)
        reserve0, reserve1 = left if zero_for_one else left[::-1]
        return hop, advance(self, reserve0=reserve0, reserve1=reserve1)

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Invert exactly; see `BaseMarket`."""
        reserve_in, reserve_out = self._reserves(self.is_zero_for_one(token_in, token_out))
        least = get_amount_in(amount_out, reserve_in, reserve_out, self.fee_pips)
        return least if least and least + reserve_in <= MAX_RESERVE else None

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that buys one unit to what is left of a uint128; minimum above maximum when closed."""
        reserve_in, _ = self._reserves(self.is_zero_for_one(token_in, token_out))
        least = self.least_input(token_in, token_out, 1)
        return Limits(least, MAX_RESERVE - reserve_in) if least else CLOSED

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 for an empty pool."""
        reserve_in, reserve_out = self._reserves(self.is_zero_for_one(token_in, token_out))
        return (1.0 - self.fee_pips / PIPS) * reserve_out / reserve_in if reserve_in else 0.0

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One Möbius piece."""
        reserve_in, reserve_out = self._reserves(self.is_zero_for_one(token_in, token_out))
        limits = self.limits(token_in, token_out)
        return Curve(
            pieces=np.array([[0.0, 0.0, (1.0 - self.fee_pips / PIPS) * reserve_out, float(reserve_in), 1.0]]),
            x_min=float(limits.min_amount_in),
            x_max=float(limits.max_amount_in),
            gas=float(self.gas),
        )

    def _reserves(self, zero_for_one: bool) -> tuple[int, int]:
        """Give (reserve in, reserve out)."""
        return (self.reserve0, self.reserve1) if zero_for_one else (self.reserve1, self.reserve0)


def build(pool: Pool, market_id: str, tokens: list[Token]) -> BancorPool:
    """Build a pool of BNT and one other token."""
    token0, token1 = require_two(tokens)
    if BNT not in (token0.address, token1.address):
        raise PoolRefused("without_bnt")
    reserve0, reserve1 = read_reserves(pool, 2)
    return BancorPool(
        id=market_id,
        protocol="bancor_v2",
        token0=token0,
        token1=token1,
        reserve0=reserve0,
        reserve1=reserve1,
        fee_pips=read_fee_pips(pool),
    )


KIND = MarketKind(market=BancorPool, pool_readers={"cpmm_bancor": build})
