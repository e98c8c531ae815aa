"""From what was bought in floats to hops in exact integers."""

from __future__ import annotations

from routing_engine.model import Hop
from routing_engine.search.allocations.exact_output import Flows
from routing_engine.search.allocations.matching import match_output
from routing_engine.search.purchases.bought import Bought
from routing_engine.search.replays.least_input import add_up_input, find_declining_market, spend_least
from routing_engine.search.splits.split import Splitter
from routing_engine.search.splits.step_gas import spare_bought_steps
from routing_engine.search.splits.whole_units import LOST

WORTHWHILE = 1e-8
"""Part of the cost that fewer steps must promise to spare for them to be replayed as well."""


def replay_purchase(splitter: Splitter, bought: Bought) -> list[tuple[Hop, ...]]:
    """Replay an allocation with the least input that gives what is asked; nothing where markets decline.

    Paths over a market that declines its part are left out, and the others take their part; so are they where whole
    units cost much. Where fewer steps of pools might do, they are replayed as well.
    """
    graph, wanted, allocation = splitter.graph, splitter.request.amount, bought.allocation
    found: list[tuple[Hop, ...]] = []
    limits = graph.forward.edges["x_max"]
    flows: Flows | None = bought.flows
    while flows:
        hops = spend_least(graph, flows, wanted)
        if hops:
            found.append(hops)
            fewer_steps = spare_bought_steps(splitter.value_input_at(flows.least_price), allocation, flows)
            is_cheaper = fewer_steps and splitter.value_cost(fewer_steps) < bought.cost * (1.0 - WORTHWHILE)
            fewer = spend_least(graph, fewer_steps, wanted) if fewer_steps and is_cheaper else None
            found += [fewer] if fewer else []
            if add_up_input(hops) <= flows.amount * (1.0 + LOST):
                break
        declining = find_declining_market(graph, flows, wanted)
        if declining is None:
            break
        allocation = allocation.without(graph.find_edges(declining))
        flows = match_output(splitter.reallocate, allocation, wanted, limits) if allocation.count else None
    return found
