"""Certificates by counting: a single path against all single paths, and against all that pay for a second one.

`bound.certify` lets a market that is used a little pay a little of its gas, which no real route can. Two kinds of
routes are told apart here: those of one path send the whole amount through each of their markets, so each market pays
its gas out of the whole; those of several paths use, beside the markets of some path, at least one more market, and
pay at least that much gas, whatever else they do. What is larger bounds both.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.arrays import Task
from routing_engine.kernels.bound.cutting_planes import refine
from routing_engine.kernels.bound.dual_bound import CLOSE
from routing_engine.kernels.bound.dual_prices import clear_worths, dearest
from routing_engine.kernels.bound.flow_limits import clear_most, fill_most
from routing_engine.kernels.bound.single_path_search import best_alone
from routing_engine.kernels.marginal_price import gas_of
from routing_engine.kernels.search.frontier import mark_beside

ALONE = np.bool_(True)
"""Routes of one path are judged."""


@inner
def _relax_gas(board, load, task, wraps, reached, fuel):
    """Lower the least gas to each token by one more hop; return the least gas of a market that does not wrap."""
    forward, least = board.forward, np.inf
    for i in range(reached):
        u = load.reached[i]
        if u == task.end:
            continue
        for e in range(forward.first[u], forward.first[u + 1]):
            edge = forward.edges[e]
            v = edge["other"]
            if not task.allowed[edge["market"]] or load.most[task.max_hops, v] <= 0.0:
                continue
            gas = gas_of(edge, task.gas)
            fuel[v] = min(fuel[v], fuel[u] + gas)
            if not wraps[edge["market"]]:
                least = min(least, gas)
    return least


@kernel
def gas_of_several(board, load, task, wraps, reached):
    """Return what the gas of two paths together is at least worth: that of the cheapest, and of one market more.

    Two paths part at a token and meet again. Between, the only market that wraps is on one of them at most, so the
    other has a market that does not, which the first path does without.
    """
    fuel = np.full(load.most.shape[1], np.inf)
    fuel[task.start] = 0.0
    least = np.inf
    for _ in range(task.max_hops):
        least = _relax_gas(board, load, task, wraps, reached, fuel)
    return fuel[task.end] + least


@kernel
def bound_by_count(board, load, task, worths, near, wraps, reached, total, network, amount, net):
    """Bound the net output of every division of at most `amount`, knowing that one path gives `net`.

    Parameters
    ----------
    load : Load
        With `most` filled for the amount: `reached` tokens; cleared.
    wraps : bool array, shape (markets,)
        Markets that change a native coin for its wrapped token one for one, at most one for each pair.
    total, network : int, Network
        The path, as `divide` leaves it.
    """
    gas, several = gas_of_several(board, load, task, wraps, reached), np.inf
    for share in (0.75, 0.5, 0.25, 0.95):  # of the gas is counted, the rest is left to the markets
        left = Task(task.allowed, task.gas * (1.0 - share), task.start, task.end, task.max_hops)
        counted = share * gas
        bound, _ = refine(board, load, left, worths, near, 1, total, network, amount, net + counted, several + counted)
        several = min(several, bound - counted)
        if several <= net * (1.0 + CLOSE):
            break
    clear_most(load, reached)
    reached = fill_most(board, load, task, amount, near, ALONE)
    mark_beside(board.forward, task.start, near, True)
    single = dearest(board, load, task, worths, near, amount, net, ALONE) * amount
    if single > max(several, net * (1.0 + CLOSE)):
        single = min(single, best_alone(board, task, worths, amount, net))
    clear_worths(worths)
    mark_beside(board.forward, task.start, near, False)
    clear_most(load, reached)
    return max(single, several)
