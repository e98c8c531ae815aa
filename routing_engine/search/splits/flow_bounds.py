"""Bounds of what many paths may give by prices of tokens: close where the amount is divided over many of them.

The bounds that come with an allocation follow from its own prices, and of many paths there is always one that could be
better. These look for prices that suit all flows instead, and gas counts only where a market can't earn it; so they
are close where gas is little of what the paths in use bring.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.kernels.bound.all_flows.least_flow_bound import find_least_flow_bound
from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.paths.known import Answers, Found

_find_least_flow_bound = Compiled(find_least_flow_bound)

FEW, OPEN = 4, 5e-5
"""Paths up to which, and relative gap down to which, no prices are looked for."""

SWAP_GAS, LITTLE_GAS = 1e5, 2e-4
"""Gas of a swap, about, and the part of the net output that its value may be: where it is more, gas decides what is
used, and prices of tokens prove little."""


class FlowBound(NamedTuple):
    """What no route nets more than, what a unit less of the amount takes off that, and the problem that it is of."""

    bound: float
    slope: float
    problem: SplitProblem


def tighten_bounds(known: Answers | None, problem: SplitProblem, found: Found) -> Found:
    """Return what was found for a problem, with closer bounds where it has many paths and much is open.

    Parameters
    ----------
    known : dict, optional
        Of one request; nothing is closer without it.
    """
    net, count, bound, slope, of_flows = found
    is_open = count > FEW and bound > net * (1.0 + OPEN) > 0.0
    if known is None or not is_open or SWAP_GAS * problem.gas.max() > LITTLE_GAS * net:
        return found
    closer = bound_flows(known, problem, net)
    if closer.bound < bound:
        bound, slope = closer.bound, closer.slope
    return net, count, bound, slope, min(of_flows, closer.bound)


def tighten_allocation(known: Answers | None, problem: SplitProblem, allocation: Allocation) -> Allocation:
    """Return an allocation with closer bounds, as `tighten_bounds` does."""
    found = allocation.net, allocation.count, allocation.bound, allocation.slope, allocation.flow_bound
    _, _, bound, slope, of_flows = tighten_bounds(known, problem, found)
    return replace(allocation, bound=bound, slope=slope, flow_bound=of_flows)


def bound_flows(known: Answers, problem: SplitProblem, net: float) -> FlowBound:
    """Return the bound for a problem, whatever its hops are, or the one that was found before.

    Parameters
    ----------
    known : dict
        Of one request.
    net : float
        A net output that is known.
    """
    arrays = problem.graph.forward.edges, problem.allowed, problem.units
    numbers = problem.start, problem.end, problem.amount, problem.least_price
    key = "flows", *map(id, arrays), *numbers, problem.gas.tobytes()
    found: FlowBound | None = known.get(key)
    if found is None:
        bound, slope = _find_least_flow_bound(problem, net)
        found = known[key] = FlowBound(bound, slope, problem)
    return found
