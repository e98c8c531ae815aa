"""Lower bounds of what an amount costs, from upper bounds of what an input is worth."""

from __future__ import annotations

from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.certificate import PRECISION, Bounds
from routing_engine.graph.graph import Graph
from routing_engine.kernels.arrays import Adjacency, SplitProblem


def bound_inputs(wanted: float, amount: float, least_gas: float, rate: float, bounds: Bounds) -> Bounds:
    """Return what routes that give an amount cost at least, input and gas.

    What a route leaves of the input, and gas, are worth the rate. So one that costs less is worth more by the rate for
    each unit. One that sells more than the input costs more than that and the least gas.

    A bound may err by a part in 10^9. At a flat end of curves, where a unit of input is worth next to nothing, that
    error is much of the input; so it is taken off before it is divided by the rate.

    Parameters
    ----------
    wanted : float
        What the routes give.
    amount, least_gas : float
        The input that the bounds speak of, and what any route takes of gas at least, valued in the input.
    rate : float
        Output that a unit of the input is worth. Without gas, bounds are linear in the amount, and it is their slope.
    bounds : Bounds
        Of what the input is worth.
    """
    most = amount + least_gas
    return Bounds(*[min(most, max(0.0, amount - (bound * (1.0 + PRECISION) - wanted) / rate)) for bound in bounds])


def find_least_gas(graph: Graph, problem: SplitProblem, gas_cost: npt.NDArray[np.float64]) -> float:
    """Return what the gas of any route is worth at least in the input: that of one market, or of two of them.

    Parameters
    ----------
    gas_cost : float64 array
        From `Graph.gas_cost`.
    """
    first, _ = _value_gas(graph.forward, problem.start, problem.allowed, gas_cost)
    last, source = _value_gas(graph.reverse, problem.end, problem.allowed, gas_cost)
    direct = last[source == problem.start].min(initial=inf)
    least = min(direct, first.min(initial=inf) + last.min(initial=inf))
    return float(least * graph.units[problem.start]) if least < inf else 0.0


def _value_gas(
    adjacency: Adjacency, token: int, allowed: npt.NDArray[np.bool_], gas_cost: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """Return the cost of gas of a token's edges over allowed markets, and the tokens at their other ends."""
    rows = adjacency.edges[adjacency.first[token] : adjacency.first[token + 1]]
    is_allowed = allowed[rows["market"]]
    return rows["gas"][is_allowed] * gas_cost[rows["chain"][is_allowed]], rows["other"][is_allowed]
