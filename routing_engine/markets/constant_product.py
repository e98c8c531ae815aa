"""Pools of two reserves whose product never falls: Uniswap v2 and its forks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from routing_engine.amm.constant_product import MAX_RESERVE, get_amount_in, get_amount_out
from routing_engine.curves.curve import Curve
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.fixed_point import PIPS, mul_div_up
from routing_engine.markets.common.pair import check_fee, check_pair, is_zero_for_one, refuse_low, refuse_out
from routing_engine.markets.common.record import read_int, read_text, read_token
from routing_engine.markets.common.state import moved
from routing_engine.model import Fee, Hop, Limits, Token


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantProductPool:
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

    id: str
    protocol: str
    token0: Token
    token1: Token
    reserve0: int
    reserve1: int
    fee_pips: int
    gas: int = 120_000

    def __post_init__(self) -> None:
        check_pair(self)
        check_fee(self.fee_pips)
        if not (0 <= self.reserve0 <= MAX_RESERVE and 0 <= self.reserve1 <= MAX_RESERVE):
            field = "reserve1" if 0 <= self.reserve0 <= MAX_RESERVE else "reserve0"
            raise InvalidMarket(field, "must be from 0 to 2**112 - 1, in smallest units")

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Both tokens."""
        return (self.token0, self.token1)

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Both directions, less those in which not even one unit can be bought."""
        both = ((self.token0, self.token1), (self.token1, self.token0))
        return tuple(edge for edge in both if _is_open(self.limits(*edge)))

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        zero_for_one = is_zero_for_one(self, token_in, token_out)
        reserve_in, reserve_out = self._reserves(zero_for_one)
        if amount_in + reserve_in > MAX_RESERVE:
            detail = f"at most {MAX_RESERVE - reserve_in}, as the reserve is a uint112"
            raise QuoteRefused(Refusal.AMOUNT_TOO_HIGH, self.id, detail)
        amount_out = get_amount_out(amount_in, reserve_in, reserve_out, self.fee_pips) if amount_in > 0 else 0
        if amount_out == 0:
            refuse_low(self.id, amount_in)
        hop = Hop(
            market_id=self.id,
            protocol=self.protocol,
            token_in=token_in,
            token_out=token_out,
            amount_in=amount_in,
            amount_out=amount_out,
            fees=(Fee(amount=mul_div_up(amount_in, self.fee_pips, PIPS), token=token_in, name="lp_fee"),),
            gas=self.gas,
            spot_price=_spot_price(reserve_in, reserve_out, self.fee_pips),
        )
        reserve_in, reserve_out = reserve_in + amount_in, reserve_out - amount_out
        if zero_for_one:
            return hop, moved(self, reserve0=reserve_in, reserve1=reserve_out)
        return hop, moved(self, reserve0=reserve_out, reserve1=reserve_in)

    def swap_exact_out(self, token_in: Token, token_out: Token, amount_out: int) -> tuple[Hop, Self]:
        """Buy at least `amount_out` for the least input; see `Market`."""
        reserve_in, reserve_out = self._reserves(is_zero_for_one(self, token_in, token_out))
        if not 0 < amount_out < reserve_out or reserve_in == 0:
            refuse_out(self.id, amount_out)
        amount_in = get_amount_in(amount_out, reserve_in, reserve_out, self.fee_pips)
        if amount_in + reserve_in > MAX_RESERVE:
            refuse_out(self.id, amount_out)
        return self.swap_exact_in(token_in, token_out, amount_in)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that buys one unit to the room left in a uint112; minimum above maximum when closed."""
        reserve_in, reserve_out = self._reserves(is_zero_for_one(self, token_in, token_out))
        if reserve_in == 0 or reserve_out < 2:
            return Limits(1, 0)
        return Limits(get_amount_in(1, reserve_in, reserve_out, self.fee_pips), MAX_RESERVE - reserve_in)

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 for an empty pool."""
        return _spot_price(*self._reserves(is_zero_for_one(self, token_in, token_out)), self.fee_pips)

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One Möbius piece."""
        reserve_in, reserve_out = self._reserves(is_zero_for_one(self, token_in, token_out))
        limits = self.limits(token_in, token_out)
        kept = 1.0 - self.fee_pips / PIPS
        return Curve(
            pieces=np.array([[0.0, 0.0, kept * reserve_out, float(reserve_in), kept]]),
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


def _is_open(limits: Limits) -> bool:
    return limits.min_amount_in <= limits.max_amount_in
