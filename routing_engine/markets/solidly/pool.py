"""Pools of the Solidly family, volatile and stable, and Camelot v2's, which charge by direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from routing_engine.curves.curve import Curve
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.fixed_point import PIPS
from routing_engine.markets.common.pair import check_fee, check_pair, is_zero_for_one, refuse_low, refuse_out
from routing_engine.markets.common.record import read_int, read_text, read_token, require
from routing_engine.markets.common.state import moved
from routing_engine.markets.solidly.direction import Direction, Fork, direction_of
from routing_engine.model import UNLIMITED, Fee, Hop, Limits, Token


@dataclass(frozen=True, slots=True, kw_only=True)
class SolidlyPool:
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

    id: str
    protocol: str
    token0: Token
    token1: Token
    reserve0: int
    reserve1: int
    stable: bool
    fork: Fork
    fee0_pips: int
    fee1_pips: int
    owner_share_pips: int = 0
    gas: int = 170_000

    def __post_init__(self) -> None:
        check_pair(self)
        check_fee(self.fee0_pips, "fee0_pips")
        check_fee(self.fee1_pips, "fee1_pips")
        require(0 <= self.reserve0 <= UNLIMITED, "reserve0", "must be from 0 to 2**256 - 1, in smallest units")
        require(0 <= self.reserve1 <= UNLIMITED, "reserve1", "must be from 0 to 2**256 - 1, in smallest units")
        require(0 <= self.owner_share_pips <= PIPS, "owner_share_pips", f"must be from 0 to {PIPS}")

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Both tokens."""
        return (self.token0, self.token1)

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Both directions, less those in which not even one unit can be bought."""
        both = ((self.token0, self.token1), (self.token1, self.token0))
        return tuple(edge for edge in both if self._direction(*edge).least)

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        direction = self._direction(token_in, token_out)
        if amount_in > direction.most:
            raise QuoteRefused(Refusal.AMOUNT_TOO_HIGH, self.id, f"at most {direction.most}")
        amount_out = direction.gives(amount_in) if amount_in > 0 else 0
        if amount_out == 0:
            refuse_low(self.id, amount_in)
        hop = Hop(
            market_id=self.id,
            protocol=self.protocol,
            token_in=token_in,
            token_out=token_out,
            amount_in=amount_in,
            amount_out=amount_out,
            fees=(Fee(amount=direction.fee_on(amount_in), token=token_in, name="lp_fee"),),
            gas=self.gas,
            spot_price=direction.spot_price,
        )
        return hop, self._after(token_in, direction.kept_of(amount_in), amount_out)

    def swap_exact_out(self, token_in: Token, token_out: Token, amount_out: int) -> tuple[Hop, Self]:
        """Buy at least `amount_out` for the least input; see `Market`."""
        amount_in = self._direction(token_in, token_out).least_for(amount_out) if amount_out > 0 else None
        if amount_in is None:
            refuse_out(self.id, amount_out)
        return self.swap_exact_in(token_in, token_out, amount_in)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that buys one unit to what the integers hold; minimum above maximum when closed.

        A stable pool is closed while it is too small for the contract's arithmetic to price single units.
        """
        direction = self._direction(token_in, token_out)
        least = direction.least
        return Limits(least, direction.most) if least else Limits(1, 0)

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 for an empty pool."""
        return self._direction(token_in, token_out).spot_price

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One Möbius piece, or the formula of `routing_engine.curves.kernels.solidly`."""
        return self._direction(token_in, token_out).curve(float(self.gas))

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
            "stable": int(self.stable),
            "fork": self.fork.value,
            "fee0_pips": self.fee0_pips,
            "fee1_pips": self.fee1_pips,
            "owner_share_pips": self.owner_share_pips,
            "gas": self.gas,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], tokens: Mapping[str, Token]) -> Self:
        """Inverse of `to_record`; see `Market`."""
        fork = read_text(record, "fork")
        if fork not in set(Fork):
            raise InvalidMarket("fork", f"{fork!r} is unknown; known are {', '.join(sorted(Fork))}")
        return cls(
            id=read_text(record, "id"),
            protocol=read_text(record, "protocol"),
            token0=read_token(record, "token0", tokens),
            token1=read_token(record, "token1", tokens),
            reserve0=read_int(record, "reserve0"),
            reserve1=read_int(record, "reserve1"),
            stable=bool(read_int(record, "stable")),
            fork=Fork(fork),
            fee0_pips=read_int(record, "fee0_pips"),
            fee1_pips=read_int(record, "fee1_pips"),
            owner_share_pips=read_int(record, "owner_share_pips"),
            gas=read_int(record, "gas"),
        )

    def _direction(self, token_in: Token, token_out: Token) -> Direction:
        zero_for_one = is_zero_for_one(self, token_in, token_out)
        reserves = (self.reserve0, self.reserve1)
        return direction_of(
            reserves if zero_for_one else reserves[::-1],
            (token_in.decimals, token_out.decimals),
            stable=self.stable,
            fork=self.fork,
            fee_pips=self.fee0_pips if zero_for_one else self.fee1_pips,
            owner_share_pips=self.owner_share_pips,
        )

    def _after(self, token_in: Token, kept: int, amount_out: int) -> Self:
        if token_in == self.token0:
            return moved(self, reserve0=self.reserve0 + kept, reserve1=self.reserve1 - amount_out)
        return moved(self, reserve0=self.reserve0 - amount_out, reserve1=self.reserve1 + kept)
