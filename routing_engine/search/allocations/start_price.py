"""What a unit of the input is worth to a single path whose gas is paid, at most.

A bound of an input lets a route leave some of it, at a rate. As long as the rate is at most the price of the start that
proves the path to be the best, leaving earns nothing, and the bound is as close, and found as soon, as one for which
all is sold. That price is below the marginal one where a market's gas is more than what its impact leaves it to earn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routing_engine.curves.kernels import edge_curve
from routing_engine.graph.graph import Graph
from routing_engine.jit.direct_call import Compiled
from routing_engine.search.allocations.exact_output import Flows

_compute_amounts_out = Compiled(edge_curve.compute_amounts_out)

PROBE, SAFE = 1e-7, 1.0 - 6e-7
"""Part of a flow over which a marginal price is measured, which makes it too large by no more than this part; and the
part of a price that is given, for as many hops as a path may have.
"""


def find_start_price(graph: Graph, flows: Flows, gas: Sequence[float]) -> float:
    """Return the price of the start at which no edge of a path earns more than its gas and what it may earn.

    Backwards from the target, a market whose impact earns its gas has its marginal price. Another one has the average
    price that is left of its gas.

    Parameters
    ----------
    flows : Flows
        Of the one path.
    gas : sequence of float
        Of each of its markets, valued in the target.
    """
    rows, taken = graph.forward.edges[flows.edges], np.array(flows.flows)
    given = _compute_amounts_out(rows, graph.pieces, taken).tolist()
    before = _compute_amounts_out(rows, graph.pieces, taken * (1.0 - PROBE)).tolist()
    dual_price = 1.0
    for x, y, less, paid in zip(flows.flows[::-1], given[::-1], before[::-1], gas[::-1], strict=True):
        kept = dual_price * (y - (y - less) / PROBE)
        dual_price = dual_price * (y - less) / (PROBE * x) if kept >= paid else (dual_price * y - paid) / x
    return dual_price * SAFE
