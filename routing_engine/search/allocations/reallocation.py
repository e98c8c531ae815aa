"""Another amount for the same paths."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.arrays import GraphArrays
from routing_engine.kernels.split import pruning
from routing_engine.kernels.split.flow_network import MAX_EDGES
from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.allocations.exact_output import Flows

_reallocate = Compiled(pruning.reallocate)


def reallocate_paths(allocation: Allocation, amount: float, graph: GraphArrays, work: npt.NDArray[np.int64]) -> Flows:
    """Allocate an amount to paths of a graph, beginning with their present proportions; these are changed.

    Parameters
    ----------
    work : int64 array
        The steps that are left: see `routing_engine.kernels.work`.
    """
    order, flow = np.empty(MAX_EDGES, np.int64), np.empty(MAX_EDGES)
    total, value, *prices = _reallocate(allocation.paths, allocation.count, amount, graph, work, order, flow)
    return Flows(order[:total].tolist(), flow[:total].tolist(), amount, value, *prices)
