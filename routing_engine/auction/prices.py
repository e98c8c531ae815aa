"""Uniform clearing prices as integers: one for each token of a solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from routing_engine.fixed_point import div_up
from routing_engine.model import Token

UNIT = 1 << 104
"""About where prices begin: amounts have up to some 100 bits, and products may have 256."""

LEAST, LARGEST = 1 << 60, 1 << 180
"""A price below has too few digits for amounts to be exact; one beyond leaves no space for amounts."""


@dataclass(frozen=True, slots=True)
class PriceVector:
    """Prices of the tokens of some pairs, of which none closes a circle: so each pair has a price of its own."""

    prices: Mapping[Token, int] = field(default_factory=dict)

    def fit(self, first: Token, second: Token, rate: Fraction) -> dict[Token, int] | None:
        """Return prices of a pair at which one unit of `first` buys `rate` of `second`, or a trifle less.

        None where both tokens have prices already, or no integers can say it.
        """
        known, other = self.prices.get(first), self.prices.get(second)
        if (known and other) or rate <= 0:
            return None
        if other:
            found = int(other * rate), other
        elif known:
            found = known, div_up(known * rate.denominator, rate.numerator)
        else:
            scale = max(1, UNIT // min(rate.numerator, rate.denominator))
            found = rate.numerator * scale, rate.denominator * scale
        if not all(LEAST <= price <= LARGEST for price in found):
            return None
        return {first: found[0], second: found[1]}

    def extend(self, prices: Mapping[Token, int]) -> PriceVector:
        """Return the vector with a pair's prices."""
        return PriceVector({**self.prices, **prices})
