"""The protocol that every market keeps. Nothing here knows how any market works."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from routing_engine.model import Hop, Token

if TYPE_CHECKING:
    from routing_engine.curves.curve import Curve

UNLIMITED = 2**256 - 1
"""The largest amount any contract can be given."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The amounts of `token_in` that a market accepts, both ends included, in smallest units."""

    min_amount_in: int = 1
    max_amount_in: int = UNLIMITED


class Market(Protocol):
    """A pool, or one lane of a bridge: an immutable value that quotes exactly and returns its next state.

    Every amount equals what the contract would do. A market that cannot serve an amount raises `QuoteRefused` with a
    reason; it never returns a smaller fill. `markets.common.base.BaseMarket` has what every kind needs.
    """

    kind: ClassVar[str]
    """What reads its record again: the name of an installed kind."""

    is_wrap: ClassVar[bool]
    """Whether it only turns a chain's coin into its wrapped token and back, one for one."""

    is_constant_product: ClassVar[bool]
    """Whether its whole curve is that of a Uniswap v2 pair, by `reserve0`, `reserve1`, `fee_pips` and `gas`."""

    has_depth: ClassVar[bool]
    """Whether it can be deeper at the same price: its output for s times an input is s times as much where all that it
    holds is s times as much."""

    rounds_up: ClassVar[bool]
    """Whether rounding may give more than its curve, as where a fee is rounded down: certificates allow for it."""

    @property
    def id(self) -> str:
        """Unique in a snapshot: ``<chain>:<address or pool id>`` for pools."""

    @property
    def protocol(self) -> str:
        """Short name, e.g. ``uniswap_v3``; what requests allow and deny."""

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens it holds or joins."""

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Directions it can serve in its present state, as (token_in, token_out)."""

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; give the hop and the market after it.

        Raises
        ------
        QuoteRefused
            If it declines this amount or pair.
        """

    def quote_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> Hop:
        """Return the hop of `swap_exact_in` alone: routes need no market after it."""

    def swap_exact_out(self, token_in: Token, token_out: Token, amount_out: int) -> tuple[Hop, Self]:
        """Buy at least `amount_out` for the least input that suffices.

        The hop is that of `swap_exact_in` with this least input, so its `amount_out` may exceed what was asked by
        rounding.

        Raises
        ------
        QuoteRefused
            If no input gives that much, or it declines the pair.
        """

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """Bounds on the input."""

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price of the next unit, after proportional fees, smallest unit out per smallest unit in."""

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Return the same function in float64, for kernels that choose."""

    def to_record(self) -> dict[str, Any]:
        """JSON-ready state; integers beyond 2**53 as digit strings."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any], tokens: Mapping[str, Token]) -> Self:
        """Inverse of `to_record`; `tokens` maps `Token.key` to tokens."""
