"""From an allocation in floats to hops in exact integers."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from routing_engine.curves.kernels import edge_curve
from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.jit.direct_call import Compiled
from routing_engine.model import Hop
from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.allocations.exact_output import Flows
from routing_engine.search.replays.flow_replay import FlowPlan
from routing_engine.search.replays.room import replay_with_room
from routing_engine.search.splits.split import Splitter
from routing_engine.search.splits.step_gas import choose_hops, spare_steps

_compute_amounts_out = Compiled(edge_curve.compute_amounts_out)


def replay_allocation(splitter: Splitter, allocation: Allocation) -> tuple[Hop, ...] | None:
    """Replay an allocation of an amount that is sold; None where markets decline their exact parts.

    Paths over a market that declines so little, or that takes less than its curve says, are left out, and the others
    take their part.
    """
    graph, amount = splitter.graph, splitter.request.amount
    while allocation.count:
        found = splitter.reallocate(allocation, float(amount))
        if not found.edges:
            return None
        try:
            _, hops = replay_with_room(FlowPlan.of(graph, found.edges, found.flows), amount)
            return _spare_steps(splitter, allocation, found, hops)
        except QuoteRefused as refusal:
            declining = graph.find_edges(refusal.market_id)
            if refusal.reason == Refusal.AMOUNT_TOO_LOW:
                declining += _find_tiny(splitter, found)
            allocation = allocation.without(declining)
    return None


def _spare_steps(splitter: Splitter, allocation: Allocation, found: Flows, hops: tuple[Hop, ...]) -> tuple[Hop, ...]:
    """Return hops that enter fewer steps of pools, where they net more in exact integers."""
    fewer_steps = spare_steps(splitter, allocation, found)
    if fewer_steps is None:
        return hops
    with suppress(QuoteRefused):
        plan = FlowPlan.of(splitter.graph, fewer_steps.edges, fewer_steps.flows)
        _, fewer = replay_with_room(plan, splitter.request.amount)
        return choose_hops(splitter, hops, fewer)
    return hops


def _find_tiny(splitter: Splitter, found: Flows) -> list[int]:
    """Return the edges that give less than a unit."""
    rows = splitter.graph.forward.edges[found.edges]
    flows = np.minimum(found.flows, rows["x_max"])
    outputs = _compute_amounts_out(rows, splitter.graph.pieces, flows)
    return [edge for edge, output in zip(found.edges, outputs.tolist(), strict=True) if not output >= 1.0]
