"""Quotes by size: limit orders, or a market maker's levels, best price first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, NamedTuple, Self

import numpy as np

from routing_engine.curves.curve import X0, Y0, A, B, Curve
from routing_engine.errors import Refusal
from routing_engine.fixed_point import mul_div, mul_div_up
from routing_engine.market import UNLIMITED, Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.codecs import BigInt, make_row_codec
from routing_engine.markets.common.field_checks import check_fields
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.one_way import OneWayMarket
from routing_engine.markets.common.record import require, to_int
from routing_engine.markets.common.state import advance
from routing_engine.model import Hop, Token


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


LEVELS = make_row_codec(
    3, lambda level: [str(value) for value in level], lambda row, field: Level(*(to_int(each, field) for each in row))
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LadderMarket(OneWayMarket):
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
    has_depth: ClassVar[bool] = True
    rounds_up: ClassVar[bool] = False

    id: str
    protocol: str
    token_in: Token
    token_out: Token
    levels: Annotated[tuple[Level, ...], LEVELS]
    min_amount_in: BigInt = 1
    fill_time_s: int = 0
    gas: int = 90_000
    gas_per_level: int = 60_000

    def __post_init__(self) -> None:
        check_fields(self)
        require(self.token_in != self.token_out, "token_out", "is the same token as token_in")
        for number, level in enumerate(self.levels):
            possible = 0 < level.amount_in <= UNLIMITED and level.price_in > 0 and level.price_out > 0
            require(possible, f"levels.{number}", "must have a positive amount and prices")
        for number, (better, worse) in enumerate(pairwise(self.levels), 1):
            ordered = better.price_out * worse.price_in >= worse.price_out * better.price_in
            require(ordered, f"levels.{number}", "is better than the level before it; put the best price first")
        require(self.min_amount_in >= 1, "min_amount_in", "must be at least 1")
        require(self.fill_time_s >= 0, "fill_time_s", "must be at least 0 seconds")

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`, level by level; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        self.require_direction(token_in, token_out)
        if amount_in < self.min_amount_in:
            self.refuse(Refusal.AMOUNT_TOO_LOW, f"at least {self.min_amount_in}")
        amount_out, rest, touched = 0, amount_in, 0
        for level in self.levels:
            filled = min(rest, level.amount_in)
            if filled == 0:
                break
            amount_out, rest, touched = amount_out + level.gives(filled), rest - filled, touched + 1
        if rest:
            self.refuse(Refusal.INSUFFICIENT_LIQUIDITY, f"at most {amount_in - rest}")
        if amount_out == 0:
            self.refuse_low(amount_in)
        hop = self.make_hop(
            token_in,
            token_out,
            amount_in,
            amount_out,
            gas=self.gas + self.gas_per_level * touched,
            fill_time_s=self.fill_time_s,
            spot_price=self.spot_price(token_in, token_out),
        )
        return hop, advance(self, levels=self._drop_filled(amount_in))

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Walk down the levels; see `BaseMarket`."""
        self.require_direction(token_in, token_out)
        spent, wanted = 0, amount_out
        for level in self.levels:
            if level.gives(level.amount_in) >= wanted:
                least = max(self.min_amount_in, spent + mul_div_up(wanted, level.price_in, level.price_out))
                return least if least <= self._total else None
            spent, wanted = spent + level.amount_in, wanted - level.gives(level.amount_in)
        return None

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the larger of the minimum and one unit's price to all levels; minimum above maximum when closed."""
        least = self.least_input(token_in, token_out, 1)
        return Limits(least, self._total) if least else CLOSED

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Price of the first level, 0 without any."""
        self.require_direction(token_in, token_out)
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

    def _drop_filled(self, amount_in: int) -> tuple[Level, ...]:
        """Return what remains after `amount_in` has been filled."""
        left = []
        for level in self.levels:
            filled = min(amount_in, level.amount_in)
            amount_in -= filled
            if filled < level.amount_in:
                left.append(level._replace(amount_in=level.amount_in - filled))
        return tuple(left)

    @property
    def _total(self) -> int:
        return sum(level.amount_in for level in self.levels)


KIND = MarketKind(market=LadderMarket)
