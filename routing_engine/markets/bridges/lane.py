"""One direction of a bridge: a token on one chain becomes a token on another, for itemised fees, after a while."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from routing_engine.curves.curve import Curve
from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.fixed_point import WAD, div_up, mul_div_up, rescale, rescale_up
from routing_engine.markets.bridges.lane_parts import native_fees, require_direction
from routing_engine.markets.common.pair import refuse_low, refuse_out
from routing_engine.markets.common.record import read_int, read_list, read_text, read_token, require, to_int
from routing_engine.markets.common.state import moved
from routing_engine.model import UNLIMITED, Fee, Hop, Limits, Token


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
    """

    name: str
    flat: int = 0
    rate_e18: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeLane:
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
        Deposit limits, both included. The maximum shrinks by what is swapped, unless it is `UNLIMITED`.
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

    id: str
    protocol: str
    token_in: Token
    token_out: Token
    fees: tuple[LaneFee, ...] = ()
    min_amount_in: int = 1
    max_amount_in: int = UNLIMITED
    fill_time_s: int
    gas: int
    native_fee: int = 0

    def __post_init__(self) -> None:
        joins_chains = self.token_in.chain_id != self.token_out.chain_id
        require(joins_chains, "token_out", "is on the chain of token_in; a lane joins two chains")
        rates_fit = all(fee.rate_e18 >= 0 for fee in self.fees) and self._rate_e18 < WAD
        require(rates_fit, "fees", "proportional parts must be at least 0 and together below 1e18, the whole amount")
        require(all(fee.flat >= 0 for fee in self.fees), "fees", "flat parts must be at least 0")
        require(self.min_amount_in >= 0, "min_amount_in", "must be at least 0")
        require(self.max_amount_in >= 0, "max_amount_in", "must be at least 0")
        require(self.fill_time_s >= 0, "fill_time_s", "must be at least 0 seconds")
        require(self.native_fee >= 0, "native_fee", "must be at least 0")

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Both tokens."""
        return (self.token_in, self.token_out)

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Give the one direction, while it has capacity."""
        bounds = self.limits(self.token_in, self.token_out)
        return ((self.token_in, self.token_out),) if bounds.min_amount_in <= bounds.max_amount_in else ()

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Send exactly `amount_in`; see `Market`."""
        require_direction(self, token_in, token_out)
        if amount_in < self.min_amount_in:
            raise QuoteRefused(Refusal.AMOUNT_TOO_LOW, self.id, f"at least {self.min_amount_in}")
        if amount_in > self.max_amount_in:
            raise QuoteRefused(Refusal.AMOUNT_TOO_HIGH, self.id, f"at most {self.max_amount_in}")
        fees = self._itemise(amount_in)
        received = amount_in - sum(fee.amount for fee in fees)
        amount_out = rescale(received, token_in.decimals, token_out.decimals)
        if amount_out <= 0:
            refuse_low(self.id, amount_in)
        hop = Hop(
            market_id=self.id,
            protocol=self.protocol,
            token_in=token_in,
            token_out=token_out,
            amount_in=amount_in,
            amount_out=amount_out,
            fees=(*fees, *native_fees(token_in.chain_id, self.native_fee)),
            gas=self.gas,
            fill_time_s=self.fill_time_s,
            spot_price=self.spot_price(token_in, token_out),
        )
        if self.max_amount_in == UNLIMITED:
            return hop, self
        return hop, moved(self, max_amount_in=self.max_amount_in - amount_in)

    def swap_exact_out(self, token_in: Token, token_out: Token, amount_out: int) -> tuple[Hop, Self]:
        """Deliver at least `amount_out` for the least input; see `Market`."""
        require_direction(self, token_in, token_out)
        amount_in = self._least_input(amount_out) if amount_out > 0 else 0
        if amount_out <= 0 or amount_in > self.max_amount_in:
            refuse_out(self.id, amount_out)
        return self.swap_exact_in(token_in, token_out, amount_in)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """Deposit limits; the minimum also buys at least one unit after fees."""
        require_direction(self, token_in, token_out)
        return Limits(self._least_input(1), self.max_amount_in)

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Price after proportional fees; fixed ones weigh nothing on the margin."""
        require_direction(self, token_in, token_out)
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

    def to_record(self) -> dict[str, Any]:
        """JSON-ready state; see `Market`."""
        return {
            "kind": self.kind,
            "id": self.id,
            "protocol": self.protocol,
            "token_in": self.token_in.key,
            "token_out": self.token_out.key,
            "fees": [[fee.name, str(fee.flat), str(fee.rate_e18)] for fee in self.fees],
            "min_amount_in": str(self.min_amount_in),
            "max_amount_in": str(self.max_amount_in),
            "fill_time_s": self.fill_time_s,
            "gas": self.gas,
            "native_fee": str(self.native_fee),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], tokens: Mapping[str, Token]) -> Self:
        """Inverse of `to_record`; see `Market`."""
        rows = read_list(record, "fees", 3)
        return cls(
            id=read_text(record, "id"),
            protocol=read_text(record, "protocol"),
            token_in=read_token(record, "token_in", tokens),
            token_out=read_token(record, "token_out", tokens),
            fees=tuple(
                LaneFee(name=str(name), flat=to_int(flat, "fees"), rate_e18=to_int(rate, "fees"))
                for name, flat, rate in rows
            ),
            min_amount_in=read_int(record, "min_amount_in"),
            max_amount_in=read_int(record, "max_amount_in"),
            fill_time_s=read_int(record, "fill_time_s"),
            gas=read_int(record, "gas"),
            native_fee=read_int(record, "native_fee"),
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
