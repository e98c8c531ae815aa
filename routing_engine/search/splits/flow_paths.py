"""Paths to begin with where an amount is large: the widest of the flows over all markets."""

from __future__ import annotations

from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.bound.all_flows import flow_paths
from routing_engine.search.allocations.allocation import Allocation, Part
from routing_engine.search.splits.split import Splitter

_find_flow_paths = Compiled(flow_paths.find_flow_paths)


def list_flow_parts(splitter: Splitter, amount: float, known: float) -> list[Part]:
    """List the paths that carry most of what all flows of an amount would; none where no prices suit them.

    Parameters
    ----------
    amount : float
        What the paths take together.
    known : float
        A net output of about this amount that is known.
    """
    request = splitter.request
    paths = Allocation.from_parts([], request.max_splits, request.max_hops).paths
    problem = splitter.problem._replace(max_hops=request.max_hops, amount=amount)
    allocation = Allocation(paths, _find_flow_paths(paths, problem, known))
    return allocation.list_parts(amount / allocation.amount) if allocation.count else []
