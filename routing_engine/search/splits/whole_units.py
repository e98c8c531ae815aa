"""Splits to which it counts that markets give whole units.

A curve gives any fraction of a unit, a market keeps it. Of 10^9 units that is nothing. But a cent is 10 units of a
token of eight decimals, and each path over such a token loses half a unit or more of them: the division that gives most
in floats may then give less in integers than a single path. Whoever takes a unit of what a market gives for its gas
uses a market only where it brings more than it loses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

import numpy as np

from routing_engine.graph.graph import Graph
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.search.allocations.allocation import Allocation, Part
from routing_engine.search.splits.split import Splitter

LOST = 1e-5
"""Part of what an allocation promises by which its route in integers falls short, from which on others are tried."""

UNITS = (0.5, 1.0, 2.0, 4.0)
"""Units of its output that a market is taken to lose. A path may lose the same part again at each of its markets, and
fractions of both a division and a fee, so the least is not always the best."""


def keep_whole_units(splitter: Splitter, starts: Sequence[Sequence[Part]]) -> Iterator[Allocation]:
    """Yield allocations in which each market brings more than the units that it is taken to lose; without bounds.

    Parameters
    ----------
    splitter : Splitter
        Of the request.
    starts : sequence of sequences of Part
        Where to begin: each takes the whole amount.
    """
    problem = splitter.problem
    for units in UNITS:
        charged = splitter.with_problem(_charge_units(splitter.graph, problem, units))
        for start in starts:
            if splitter.is_over:
                return
            found = charged.improve(start, longer=True, is_judged=False)
            if found.net > -inf:
                yield found


def _charge_units(graph: Graph, problem: SplitProblem, units: float) -> SplitProblem:
    """Return a problem to whose gas is added what so many units of each market's output are worth in the target."""
    prices = np.zeros(graph.units.size)
    arrays = graph.arrays
    onward, backward = arrays.forward.edges.copy(), arrays.reverse.edges.copy()
    price = problem.gas[onward["chain"]]
    with np.errstate(over="ignore"):  # units worth more than a float of an edge holds are worth any amount
        np.divide(graph.units[problem.end], graph.units, out=prices, where=graph.units > 0.0)
        prices[problem.end] = 1.0
        onward["gas"] = onward["gas"] * price + units * prices[onward["other"]]
        onward["gas_per_piece"] *= price
    for name in ("gas", "gas_per_piece"):
        backward[name] = onward[name][backward["twin"]]
    arrays = arrays._replace(
        forward=arrays.forward._replace(edges=onward), reverse=arrays.reverse._replace(edges=backward)
    )
    return problem._replace(graph=arrays, gas=np.ones_like(problem.gas))
