"""One direction of one market under examination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from routing_engine.errors import QuoteRefused
from routing_engine.model import Hop, Limits, Market, Token


class NotConforming(AssertionError):
    """A market or an adapter breaks a property that others rely on; the message names both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One direction of one market, with the amounts to try.

    Parameters
    ----------
    market, token_in, token_out : Market, Token, Token
        What is checked.
    limits : Limits
        As the market gives them.
    amounts : tuple of int
        Inputs within the limits, rising; first and last are the limits themselves.
    rounding_units, split_gain, split_units, dip, trip_units
        As in `check_market`.
    """

    market: Market
    token_in: Token
    token_out: Token
    limits: Limits
    amounts: tuple[int, ...]
    rounding_units: int
    split_gain: float
    split_units: int
    dip: float
    trip_units: int

    def sell(self, amount_in: int) -> Hop:
        """Quote, expecting an answer."""
        return self._answer(self.market.swap_exact_in, amount_in)

    def buy(self, amount_out: int) -> Hop:
        """Quote an output, expecting an answer."""
        return self._answer(self.market.swap_exact_out, amount_out)

    def _answer(self, swap: Callable[[Token, Token, int], tuple[Hop, Market]], amount: int) -> Hop:
        try:
            return swap(self.token_in, self.token_out, amount)[0]
        except QuoteRefused as refusal:
            raise NotConforming(f"{self.market.id}: refuses {amount}, which it should serve: {refusal}") from refusal

    def refuses(self, swap: Callable[[Token, Token, int], object], amount: int) -> bool:
        """Tell whether `swap` declines `amount` with `QuoteRefused`."""
        try:
            swap(self.token_in, self.token_out, amount)
        except QuoteRefused:
            return True
        return False

    def require(self, condition: bool, property_: str) -> None:
        """Raise `NotConforming` unless `condition` holds."""
        if not condition:
            raise NotConforming(f"{self.market.id}, {self.token_in} to {self.token_out}: {property_}")
