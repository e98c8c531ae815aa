"""One direction of a bridge: a token on one chain becomes a token on another, for itemised fees, after a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from routing_engine.curves.curve import Curve
from routing_engine.errors import Refusal
from routing_engine.fixed_point import WAD, div_up, mul_div_up, rescale, rescale_up
from routing_engine.market import UNLIMITED, Limits
from routing_engine.markets.common.codecs import BigInt, make_row_codec
from routing_engine.markets.common.field_checks import check_fields
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.one_way import OneWayMarket, itemise_native_fee
from routing_engine.markets.common.record import require, to_int
from routing_engine.markets.common.state import advance
from routing_engine.model import Fee, Hop, Token


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneFee:
    """One named charge of a lane, taken from the input.

    Parameters
    ----------
    name : str
        E.g. ``relayer_fee``.
    flat : int
        Fixed part, smallest units of the lane's `token_in`.
    rate_e18 : int
        Proportional part, in 1e-18 of the amount.

    Raises
    ------
    InvalidMarket
        If the name is no text, or a part no integer.
    """

    name: str
    flat: int = 0
    rate_e18: int = 0

    def __post_init__(self) -> None:
        check_fields(self)


def _read_fee(row: Sequence[Any], field: str) -> LaneFee:
    name, flat, rate = row
    return LaneFee(name=str(name), flat=to_int(flat, field), rate_e18=to_int(rate, field))


FEES = make_row_codec(3, lambda fee: (fee.name, str(fee.flat), str(fee.rate_e18)), _read_fee)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BridgeLane(OneWayMarket):
    """A bridge from one token to its counterpart on another chain.

    The output is the input less all fees, rounded down to the decimals of `token_out`. The proportional charges are
    rounded up together, so that one unit more of input never gives less, and itemised so that they add up.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    token_in, token_out : Token
        On different chains; their decimals may differ.
    fees : tuple of LaneFee
        What is taken, by name.
    min_amount_in, max_amount_in : int
        Deposit limits, both included. The maximum shrinks by what is swapped, unless it is `UNLIMITED`. It is 0 where
        the lane is closed, as it is where less than the minimum is left.
    fill_time_s : int
        Seconds from the deposit until the output can be used.
    gas : int
        Gas units of the deposit, on the chain of `token_in`.
    native_fee : int
        Paid on top of the deposit, in the coin of `token_in`'s chain.

    Raises
    ------
    InvalidMarket
        If chains, fees, limits or time are impossible.
    """

    kind: ClassVar[str] = "lane"
    rounds_up: ClassVar[bool] = False

    id: str
    protocol: str
    token_in: Token
    token_out: Token
    fees: Annotated[tuple[LaneFee, ...], FEES] = ()
    min_amount_in: BigInt = 1
    max_amount_in: BigInt = UNLIMITED
    fill_time_s: int
    gas: int
    native_fee: BigInt = 0

    def __post_init__(self) -> None:
        check_fields(self)
        joins_chains = self.token_in.chain_id != self.token_out.chain_id
        require(joins_chains, "token_out", "is on the chain of token_in; a lane joins two chains")
        rates_fit = all(fee.rate_e18 >= 0 for fee in self.fees) and self._rate_e18 < WAD
        require(rates_fit, "fees", "proportional parts must be at least 0 and together below 1e18, the whole amount")
        require(all(fee.flat >= 0 for fee in self.fees), "fees", "flat parts must be at least 0")
        require(self.min_amount_in >= 0, "min_amount_in", "must be at least 0")
        reaches = self.max_amount_in == 0 or self.max_amount_in >= max(0, self.min_amount_in)
        require(reaches, "max_amount_in", "must be at least min_amount_in, or 0 where the lane is closed")
        require(self.fill_time_s >= 0, "fill_time_s", "must be at least 0 seconds")
        require(self.native_fee >= 0, "native_fee", "must be at least 0")

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Send exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        self.require_direction(token_in, token_out)
        if amount_in < self.min_amount_in:
            self.refuse(Refusal.AMOUNT_TOO_LOW, f"at least {self.min_amount_in}")
        if amount_in > self.max_amount_in:
            self.refuse(Refusal.AMOUNT_TOO_HIGH, f"at most {self.max_amount_in}")
        fees = self._itemise(amount_in)
        received = amount_in - sum(fee.amount for fee in fees)
        amount_out = rescale(received, token_in.decimals, token_out.decimals)
        if amount_out <= 0:
            self.refuse_low(amount_in)
        hop = self.make_hop(
            token_in,
            token_out,
            amount_in,
            amount_out,
            fees=(*fees, *itemise_native_fee(token_in.chain_id, self.native_fee)),
            gas=self.gas,
            fill_time_s=self.fill_time_s,
            spot_price=self.spot_price(token_in, token_out),
        )
        if self.max_amount_in == UNLIMITED:
            return hop, self
        left = self.max_amount_in - amount_in
        return hop, advance(self, max_amount_in=left if left >= self.min_amount_in else 0)

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Invert exactly; see `BaseMarket`."""
        self.require_direction(token_in, token_out)
        amount_in = self._least_input(amount_out)
        return amount_in if amount_in <= self.max_amount_in else None

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """Deposit limits; the minimum also buys at least one unit after fees."""
        self.require_direction(token_in, token_out)
        return Limits(self._least_input(1), self.max_amount_in)

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Price after proportional fees; fixed ones weigh nothing on the margin."""
        self.require_direction(token_in, token_out)
        return float((1.0 - self._rate_e18 / WAD) * 10.0 ** (token_out.decimals - token_in.decimals))

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One straight piece that starts at the least input."""
        bounds = self.limits(token_in, token_out)
        slope = self.spot_price(token_in, token_out)
        kept = bounds.min_amount_in * (WAD - self._rate_e18) - self._flat * WAD
        first = kept / WAD * 10.0 ** (token_out.decimals - token_in.decimals)
        return Curve(
            pieces=np.array([[float(bounds.min_amount_in), first, slope, 1.0, 0.0]]),
            x_min=float(bounds.min_amount_in),
            x_max=float(bounds.max_amount_in),
            gas=float(self.gas),
            native_fee=float(self.native_fee),
            fill_time_s=float(self.fill_time_s),
            concave=self._flat == 0,
        )

    @property
    def _flat(self) -> int:
        return sum(fee.flat for fee in self.fees)

    @property
    def _rate_e18(self) -> int:
        return sum(fee.rate_e18 for fee in self.fees)

    def _itemise(self, amount_in: int) -> tuple[Fee, ...]:
        """Charge each fee as the growth of the rounded-up total, so that the items add up to it exactly."""
        items, rate, charged = [], 0, 0
        for fee in self.fees:
            rate += fee.rate_e18
            total = mul_div_up(amount_in, rate, WAD)
            items.append(Fee(amount=fee.flat + total - charged, token=self.token_in, name=fee.name))
            charged = total
        return tuple(items)

    def _least_input(self, amount_out: int) -> int:
        """Invert exactly: with one rounding, ``x - ceil(x * r) >= n`` just when ``x >= ceil(n / (1 - r))``."""
        received = rescale_up(amount_out, self.token_out.decimals, self.token_in.decimals)
        return max(self.min_amount_in, div_up((received + self._flat) * WAD, WAD - self._rate_e18))


KIND = MarketKind(market=BridgeLane)
