"""From an allocation in floats to hops in exact integers."""

from __future__ import annotations

from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.model import Hop
from routing_engine.search.allocation import Allocation
from routing_engine.search.flow_replay import FlowPlan
from routing_engine.search.split import Splitter

REPLAYS = 8
"""How often markets that decline so little are left out of an allocation."""


def replay_allocation(splitter: Splitter, allocation: Allocation) -> tuple[Hop, ...] | None:
    """Replay an allocation of an amount that is sold; None where a market declines its exact part.

    Paths over a market that declines so little are left out, and the others take their part.
    """
    request, graph = splitter.request, splitter.graph
    for _ in range(REPLAYS):
        found = splitter.reallocate(allocation, float(request.amount))
        if not found.edges:
            return None
        try:
            return FlowPlan.of(graph, found.edges, found.flows).replay(request.amount)
        except QuoteRefused as refusal:
            if refusal.reason != Refusal.AMOUNT_TOO_LOW:
                return None
            allocation = allocation.without(graph.find_edges(refusal.market_id))
    return None
