"""By how much what markets give may exceed their curves, as contracts round.

Curves are real functions. A contract that rounds its fee down, or a product to the nearest, gives more than its curve:
as much as for a part of a unit more of its input, and a part of a unit of its output on top. To an amount of 10^9 units
that is nothing, to one of four units it is much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.graph.structured_rows import Places
from routing_engine.market import Market
from routing_engine.model import Token

MOST_DECIMALS = 18
"""Formulas reckon in so many decimals: of tokens with more they round several units."""

UNITS = 1.25
"""Units of the input, and of the output, that rounding is worth at most: a unit that pays no fee, which is below a
fifth, and a unit that is rounded up."""

Numbers = npt.NDArray[np.int32]


class Roundings(NamedTuple):
    """By how much rounding may exceed each forward edge's curve, in smallest units of its output.

    `takes` and `gives` mark the tokens that edges with any take and give; `units` are those of each token that rounding
    is worth.
    """

    most: npt.NDArray[np.float64]
    takes: npt.NDArray[np.bool_]
    gives: npt.NDArray[np.bool_]
    units: npt.NDArray[np.float64]


def count_rounded_units(token: Token) -> float:
    """Return how many smallest units of a token rounding is worth at most."""
    return UNITS * 10.0 ** max(0, token.decimals - MOST_DECIMALS)


def bound_roundings(
    edges: npt.NDArray[np.void], source: Numbers, target: Numbers, markets: Sequence[Market], tokens: Sequence[Token]
) -> Roundings:
    """Return for each forward edge by how much rounding may exceed its curve."""
    rounds = np.array([market.rounds_up for market in markets], np.bool_)
    units = np.array([count_rounded_units(token) for token in tokens])
    most: npt.NDArray[np.float64] = units[source] * edges["max_average_price"] + units[target]
    most[~rounds[edges["market"]]] = 0.0
    takes, gives = np.zeros((2, units.size), np.bool_)
    is_rounded = most > 0.0
    takes[source[is_rounded]] = gives[target[is_rounded]] = True
    return Roundings(most, takes, gives, units)


def follow_roundings(
    known: Roundings, edges: npt.NDArray[np.void], source: Numbers, target: Numbers, changed: Places
) -> Roundings:
    """Return roundings after some forward edges have changed.

    Whether a market rounds up is a matter of its kind, so an edge that is rounded is so in any state.
    """
    most, units = known.most.copy(), known.units
    news = units[source[changed]] * edges["max_average_price"][changed] + units[target[changed]]
    most[changed] = np.where(most[changed] > 0.0, news, 0.0)
    return known._replace(most=most)
