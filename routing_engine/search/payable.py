"""What the markets that lead to a token can pay at most, whatever prices are: a bound for amounts beyond liquidity.

There the other bounds, which value the amount at marginal prices, leave much open. This one asks only how much can come
through: of the target no more arrives than all markets give for all that can be at the tokens before it.
"""

from __future__ import annotations

from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.curves.kernels import edge_curve
from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.arrays import SplitProblem

RELAYS = 4
"""How many markets before the target are followed; each further one makes the bound closer, by less and less."""

_compute_amounts_out = Compiled(edge_curve.compute_amounts_out)

Amounts = npt.NDArray[np.float64]


def bound_outputs(rows: npt.NDArray[np.void], pieces: Amounts, inputs: Amounts) -> Amounts:
    """Return what edges give at most for inputs, in smallest units; infinite where that is not known.

    A curve that is not concave lies below the line of its largest average price.
    """
    taken = np.minimum(inputs, rows["x_max"])
    given = taken * rows["max_average_price"]
    is_sharp = rows["concave"] != 0
    given[is_sharp] = _compute_amounts_out(rows[is_sharp], pieces, taken[is_sharp])
    outputs: Amounts = np.nan_to_num(given * (1.0 + rows["above"]), nan=inf, posinf=inf)
    return outputs


def bound_payable(problem: SplitProblem, amount: float) -> float:
    """Return what no route of an amount nets more than, in units of the target, over any number of markets.

    Parameters
    ----------
    problem : SplitProblem
        Whose ends, allowed markets and value of gas count.
    amount : float
        All that there is at the start.
    """
    graph, start, end = problem.graph, problem.start, problem.end
    rows, source = graph.forward.edges, graph.source
    is_open = problem.allowed[rows["market"]] & (rows["other"] != start) & (source != end)
    rows, source = rows[is_open], source[is_open]
    most = np.full(problem.units.size, inf)
    most[start] = amount
    for _ in range(RELAYS):
        given = bound_outputs(rows, graph.pieces, most[source])
        most = np.bincount(rows["other"], weights=given, minlength=most.size)
        most[start] = amount
    is_last = rows["other"] == end
    last = rows[is_last]
    gas = last["gas"] * problem.gas[last["chain"]]
    net = np.maximum(0.0, bound_outputs(last, graph.pieces, most[source[is_last]]) - gas)
    best = np.zeros(problem.allowed.size)
    np.maximum.at(best, last["market"], net)  # a route uses one edge of a market
    return float(best.sum())
