"""Quotes by size: limit orders, or a market maker's levels, best price first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from routing_engine.curves.curve import X0, Y0, A, B, Curve
from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.fixed_point import mul_div, mul_div_up
from routing_engine.markets.bridges.lane_parts import require_direction
from routing_engine.markets.common.pair import refuse_low, refuse_out
from routing_engine.markets.common.record import read_int, read_list, read_text, read_token, require, to_int
from routing_engine.markets.common.state import moved
from routing_engine.model import UNLIMITED, Hop, Limits, Token


class Level(NamedTuple):
    """One order or level.

    It takes up to `amount_in`, and pays `price_out` for each `price_in`, rounded down: an order pays by the amounts it
    was signed with, however much of it has been filled.
    """

    amount_in: int
    price_in: int
    price_out: int

    def gives(self, amount_in: int) -> int:
        """Return what is paid for an input up to `Level.amount_in`."""
        return mul_div(amount_in, self.price_out, self.price_in)

    @property
    def price(self) -> float:
        """Smallest units out for each smallest unit in."""
        return self.price_out / self.price_in


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderMarket:
    """Levels of one direction, filled in order; what is filled is gone.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    token_in, token_out : Token
        Different tokens, of one chain or, for intents, of two.
    levels : tuple of Level
        Best price first.
    min_amount_in : int
        The least that is accepted.
    fill_time_s : int
        Seconds until the output can be used; 0 where it comes within the transaction.
    gas, gas_per_level : int
        Gas units are ``gas + gas_per_level * levels``, counting those that are touched.

    Raises
    ------
    InvalidMarket
        If tokens, levels, minimum or time are impossible, or a later level is better than an earlier one.
    """

    kind: ClassVar[str] = "ladder"

    id: str
    protocol: str
    token_in: Token
    token_out: Token
    levels: tuple[Level, ...]
    min_amount_in: int = 1
    fill_time_s: int = 0
    gas: int = 90_000
    gas_per_level: int = 60_000

    def __post_init__(self) -> None:
        require(self.token_in != self.token_out, "token_out", "is the same token as token_in")
        for number, level in enumerate(self.levels):
            possible = 0 < level.amount_in <= UNLIMITED and level.price_in > 0 and level.price_out > 0
            require(possible, f"levels.{number}", "must have a positive amount and prices")
        for number, (better, worse) in enumerate(pairwise(self.levels), 1):
            ordered = better.price_out * worse.price_in >= worse.price_out * better.price_in
            require(ordered, f"levels.{number}", "is better than the level before it; put the best price first")
        require(self.min_amount_in >= 1, "min_amount_in", "must be at least 1")
        require(self.fill_time_s >= 0, "fill_time_s", "must be at least 0 seconds")

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Both tokens."""
        return (self.token_in, self.token_out)

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Give the one direction, while levels are left."""
        bounds = self.limits(self.token_in, self.token_out)
        return ((self.token_in, self.token_out),) if bounds.min_amount_in <= bounds.max_amount_in else ()

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`, level by level; see `Market`."""
        require_direction(self, token_in, token_out)
        if amount_in < self.min_amount_in:
            raise QuoteRefused(Refusal.AMOUNT_TOO_LOW, self.id, f"at least {self.min_amount_in}")
        amount_out, rest, touched = 0, amount_in, 0
        for level in self.levels:
            filled = min(rest, level.amount_in)
            if filled == 0:
                break
            amount_out, rest, touched = amount_out + level.gives(filled), rest - filled, touched + 1
        if rest:
            raise QuoteRefused(Refusal.INSUFFICIENT_LIQUIDITY, self.id, f"at most {amount_in - rest}")
        if amount_out == 0:
            refuse_low(self.id, amount_in)
        hop = Hop(
            market_id=self.id,
            protocol=self.protocol,
            token_in=token_in,
            token_out=token_out,
            amount_in=amount_in,
            amount_out=amount_out,
            gas=self.gas + self.gas_per_level * touched,
            fill_time_s=self.fill_time_s,
            spot_price=self.spot_price(token_in, token_out),
        )
        return hop, moved(self, levels=self._left(amount_in))

    def swap_exact_out(self, token_in: Token, token_out: Token, amount_out: int) -> tuple[Hop, Self]:
        """Buy at least `amount_out` for the least input; see `Market`."""
        require_direction(self, token_in, token_out)
        amount_in = self._least_input(amount_out) if amount_out > 0 else None
        if amount_in is None:
            refuse_out(self.id, amount_out)
        return self.swap_exact_in(token_in, token_out, amount_in)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the larger of the minimum and one unit's price to all levels; minimum above maximum when closed."""
        require_direction(self, token_in, token_out)
        least = self._least_input(1)
        return Limits(1, 0) if least is None else Limits(least, sum(level.amount_in for level in self.levels))

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Price of the first level, 0 without any."""
        require_direction(self, token_in, token_out)
        return self.levels[0].price if self.levels else 0.0

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One straight piece for each level."""
        limits = self.limits(token_in, token_out)
        pieces = np.zeros((max(1, len(self.levels)), 5))
        pieces[:, B] = 1.0
        start_in = start_out = 0
        for row, level in zip(pieces, self.levels, strict=False):
            row[X0], row[Y0], row[A] = float(start_in), float(start_out), level.price
            start_in, start_out = start_in + level.amount_in, start_out + level.gives(level.amount_in)
        return Curve(
            pieces=pieces,
            x_min=float(limits.min_amount_in),
            x_max=float(limits.max_amount_in),
            gas=float(self.gas + self.gas_per_level),
            gas_per_piece=float(self.gas_per_level),
            fill_time_s=float(self.fill_time_s),
        )

    def to_record(self) -> dict[str, Any]:
        """JSON-ready state; see `Market`."""
        return {
            "kind": self.kind,
            "id": self.id,
            "protocol": self.protocol,
            "token_in": self.token_in.key,
            "token_out": self.token_out.key,
            "levels": [[str(value) for value in level] for level in self.levels],
            "min_amount_in": str(self.min_amount_in),
            "fill_time_s": self.fill_time_s,
            "gas": self.gas,
            "gas_per_level": self.gas_per_level,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], tokens: Mapping[str, Token]) -> Self:
        """Inverse of `to_record`; see `Market`."""
        rows = read_list(record, "levels", 3)
        return cls(
            id=read_text(record, "id"),
            protocol=read_text(record, "protocol"),
            token_in=read_token(record, "token_in", tokens),
            token_out=read_token(record, "token_out", tokens),
            levels=tuple(Level(*(to_int(value, f"levels.{n}") for value in row)) for n, row in enumerate(rows)),
            min_amount_in=read_int(record, "min_amount_in"),
            fill_time_s=read_int(record, "fill_time_s"),
            gas=read_int(record, "gas"),
            gas_per_level=read_int(record, "gas_per_level"),
        )

    def _left(self, amount_in: int) -> tuple[Level, ...]:
        """Return what remains after `amount_in` has been filled."""
        left = []
        for level in self.levels:
            filled = min(amount_in, level.amount_in)
            amount_in -= filled
            if filled < level.amount_in:
                left.append(level._replace(amount_in=level.amount_in - filled))
        return tuple(left)

    def _least_input(self, amount_out: int) -> int | None:
        """Return the least accepted input that gives `amount_out`, which is positive; None where none does."""
        spent, wanted = 0, amount_out
        for level in self.levels:
            if level.gives(level.amount_in) >= wanted:
                least = max(self.min_amount_in, spent + mul_div_up(wanted, level.price_in, level.price_out))
                return least if least <= sum(level.amount_in for level in self.levels) else None
            spent, wanted = spent + level.amount_in, wanted - level.gives(level.amount_in)
        return None
