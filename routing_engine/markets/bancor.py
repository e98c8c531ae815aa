"""Bancor v2.1 pools of BNT and one other token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from routing_engine.amm.bancor import MAX_RESERVE, get_amount_in, get_amount_out
from routing_engine.curves.curve import Curve
from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.fixed_point import PIPS
from routing_engine.markets.common.pair import check_fee, check_pair, is_zero_for_one, refuse_low, refuse_out
from routing_engine.markets.common.record import read_int, read_text, read_token, require
from routing_engine.markets.common.state import moved
from routing_engine.model import Fee, Hop, Limits, Token


@dataclass(frozen=True, slots=True, kw_only=True)
class BancorPool:
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

    id: str
    protocol: str
    token0: Token
    token1: Token
    reserve0: int
    reserve1: int
    fee_pips: int
    gas: int = 180_000

    def __post_init__(self) -> None:
        check_pair(self)
        check_fee(self.fee_pips)
        for field, reserve in (("reserve0", self.reserve0), ("reserve1", self.reserve1)):
            require(0 <= reserve <= MAX_RESERVE, field, "must be from 0 to 2**128 - 1, in smallest units")

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Both tokens."""
        return (self.token0, self.token1)

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Both directions, less those in which not even one unit can be bought."""
        both = ((self.token0, self.token1), (self.token1, self.token0))
        limits = [self.limits(*edge) for edge in both]
        return tuple(
            edge for edge, bounds in zip(both, limits, strict=True) if bounds.min_amount_in <= bounds.max_amount_in
        )

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        zero_for_one = is_zero_for_one(self, token_in, token_out)
        reserve_in, reserve_out = self._reserves(zero_for_one)
        if amount_in + reserve_in > MAX_RESERVE:
            detail = f"at most {MAX_RESERVE - reserve_in}, as the reserve is a uint128"
            raise QuoteRefused(Refusal.AMOUNT_TOO_HIGH, self.id, detail)
        if amount_in <= 0:
            refuse_low(self.id, amount_in)
        amount_out, fee = get_amount_out(amount_in, reserve_in, reserve_out, self.fee_pips)
        if amount_out == 0 or reserve_in == 0:
            refuse_low(self.id, amount_in)
        hop = Hop(
            market_id=self.id,
            protocol=self.protocol,
            token_in=token_in,
            token_out=token_out,
            amount_in=amount_in,
            amount_out=amount_out,
            fees=(Fee(amount=fee, token=token_out, name="lp_fee"),),
            gas=self.gas,
            spot_price=self.spot_price(token_in, token_out),
        )
        left = (reserve_in + amount_in, reserve_out - amount_out)
        reserve0, reserve1 = left if zero_for_one else left[::-1]
        return hop, moved(self, reserve0=reserve0, reserve1=reserve1)

    def swap_exact_out(self, token_in: Token, token_out: Token, amount_out: int) -> tuple[Hop, Self]:
        """Buy at least `amount_out` for the least input; see `Market`."""
        reserve_in, reserve_out = self._reserves(is_zero_for_one(self, token_in, token_out))
        least = get_amount_in(amount_out, reserve_in, reserve_out, self.fee_pips) if amount_out > 0 else None
        if not least or least + reserve_in > MAX_RESERVE:
            refuse_out(self.id, amount_out)
        return self.swap_exact_in(token_in, token_out, least)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that buys one unit to the room left in a uint128; minimum above maximum when closed."""
        reserve_in, reserve_out = self._reserves(is_zero_for_one(self, token_in, token_out))
        least = get_amount_in(1, reserve_in, reserve_out, self.fee_pips)
        return Limits(least, MAX_RESERVE - reserve_in) if least else Limits(1, 0)

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 for an empty pool."""
        reserve_in, reserve_out = self._reserves(is_zero_for_one(self, token_in, token_out))
        return (1.0 - self.fee_pips / PIPS) * reserve_out / reserve_in if reserve_in else 0.0

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One Möbius piece."""
        reserve_in, reserve_out = self._reserves(is_zero_for_one(self, token_in, token_out))
        limits = self.limits(token_in, token_out)
        return Curve(
            pieces=np.array([[0.0, 0.0, (1.0 - self.fee_pips / PIPS) * reserve_out, float(reserve_in), 1.0]]),
            x_min=float(limits.min_amount_in),
            x_max=float(limits.max_amount_in),
            gas=float(self.gas),
        )

    def to_record(self) -> dict[str, Any]:
        """JSON-ready state; see `Market`."""
        return {
            "kind": self.kind,
            "id": self.id,
            "protocol": self.protocol,
            "token0": self.token0.key,
            "token1": self.token1.key,
            "reserve0": str(self.reserve0),
            "reserve1": str(self.reserve1),
            "fee_pips": self.fee_pips,
            "gas": self.gas,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], tokens: Mapping[str, Token]) -> Self:
        """Inverse of `to_record`; see `Market`."""
        return cls(
            id=read_text(record, "id"),
            protocol=read_text(record, "protocol"),
            token0=read_token(record, "token0", tokens),
            token1=read_token(record, "token1", tokens),
            reserve0=read_int(record, "reserve0"),
            reserve1=read_int(record, "reserve1"),
            fee_pips=read_int(record, "fee_pips"),
            gas=read_int(record, "gas"),
        )

    def _reserves(self, zero_for_one: bool) -> tuple[int, int]:
        """Give (reserve in, reserve out)."""
        return (self.reserve0, self.reserve1) if zero_for_one else (self.reserve1, self.reserve0)
