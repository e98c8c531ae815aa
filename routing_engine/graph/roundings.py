"""By how much what markets give may exceed their curves, as contracts round.

Curves are real functions. A contract that rounds its fee down, or a product to the nearest, gives more than its curve:
as much as for a part of a unit more of its input, and a part of a unit of its output on top. To an amount of 10^9 units
that is nothing, to one of four units it is much.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from routing_engine.market import Market
from routing_engine.model import Token

MOST_DECIMALS = 18
"""Formulas reckon in so many decimals: of tokens with more they round several units."""

UNITS = 1.25
"""Units of the input, and of the output, that rounding is worth at most: a unit that pays no fee, which is below a
fifth, and a unit that is rounded up."""

Numbers = npt.NDArray[np.int32]


def count_rounded_units(token: Token) -> float:
    """Return how many smallest units of a token rounding is worth at most."""
    return UNITS * 10.0 ** max(0, token.decimals - MOST_DECIMALS)


def bound_roundings(
    edges: npt.NDArray[np.void], source: Numbers, target: Numbers, markets: Sequence[Market], tokens: Sequence[Token]
) -> npt.NDArray[np.float64]:
    """Return for each forward edge by how much rounding may exceed its curve, in smallest units of its output."""
    rounds = np.array([market.rounds_up for market in markets], np.bool_)
    units = np.array([count_rounded_units(token) for token in tokens])
    most: npt.NDArray[np.float64] = units[source] * edges["max_average_price"] + units[target]
    most[~rounds[edges["market"]]] = 0.0
    return most
