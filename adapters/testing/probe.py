"""One direction of one market under examination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from routing_engine.errors import InvalidRequest, QuoteRefused
from routing_engine.market import Limits, Market
from routing_engine.model import Hop, Token


class NotConforming(AssertionError):
    """A market or an adapter breaks a property that others rely on; the message names both."""


class Tolerances(TypedDict, total=False):
    """What the rounding of a contract costs its market, and what of a market's limits is softer than they say.

    rounding_units : int
        Units of input and of output that integer rounding may cost one swap; 4 unless said. A market that rounds at
        each of n steps needs 2 * n.
    split_gain : float
        Fraction by which two trades may beat one: where the fee is taken from the output it stays in the pool, and the
        second trade finds a better price. At most that fee.
    split_units : int
        Units of input that two trades may save beside one: where the fee is rounded down, and leaves the pool.
    dip : float
        Fraction by which the output may fall when the input grows: where the fee depends on the amount, and is rounded.
    trip_units : int
        Units that a round trip may gain: where the contract itself rounds in the trader's favour.
    serves_beyond : bool
        Whether swaps are served outside the limits too, which then say where searches may rely on the curve.
    has_gaps : bool
        Whether amounts between the limits may be refused now and then, since the contract's arithmetic fails at them.
    """

    rounding_units: int
    split_gain: float
    split_units: int
    dip: float
    trip_units: int
    serves_beyond: bool
    has_gaps: bool


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
        Inputs within the limits, rising; first and last are the limits themselves. None is in a gap.
    rounding_units, split_gain, split_units, dip, trip_units, serves_beyond, has_gaps
        As in `Tolerances`.
    """

    market: Market
    token_in: Token
    token_out: Token
    limits: Limits
    amounts: tuple[int, ...]
    rounding_units: int = 4
    split_gain: float = 0.0
    split_units: int = 0
    dip: float = 0.0
    trip_units: int = 0
    serves_beyond: bool = False
    has_gaps: bool = False

    def sell(self, amount_in: int) -> Hop:
        """Quote, expecting an answer."""
        return self._answer(self.market.swap_exact_in, amount_in)

    def is_gap(self, amount_in: int) -> bool:
        """Tell whether an input within the limits is refused, as this market may."""
        return self.has_gaps and self.refuses(self.market.swap_exact_in, amount_in)

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

    def refuses_inexact(self, swap: Callable[[Token, Token, Any], object]) -> bool:
        """Tell whether `swap` takes integers only: neither a float, nor an integer of numpy, which overflows."""
        for amount in (float(self.amounts[-1]), np.int64(self.amounts[0] % 2**63), str(self.amounts[0])):
            try:
                swap(self.token_in, self.token_out, amount)
            except InvalidRequest:
                continue
            except (ArithmeticError, QuoteRefused, TypeError):
                pass
            return False
        return True

    def require(self, condition: bool, property_: str) -> None:
        """Raise `NotConforming` unless `condition` holds."""
        if not condition:
            raise NotConforming(f"{self.market.id}, {self.token_in} to {self.token_out}: {property_}")
