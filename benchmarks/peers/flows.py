"""Flows in floats, as a convex solver gives them, made into swaps that can run one after the other."""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx

from benchmarks.harness.answer import Answer, Swap
from routing_engine import QuoteRefused, Router, RouteRequest, Token

LEAST = 1e-7
"""Flows of a smaller part of the trade are what a solver's tolerance leaves."""

Flow = tuple[int, int, int]
"""Market, token sold, token bought, as a graph numbers them."""


def answer_flows(router: Router, request: RouteRequest, flows: Mapping[Flow, float]) -> Answer | None:
    """Return swaps in an order in which each spends what those before it gave; None where nothing gets through."""
    graph = router.graph
    source, target = graph.index[request.token_in], graph.index[request.token_out]
    scale = request.amount * float(graph.prices[source])
    kept = {flow: amount for flow, amount in flows.items() if amount * float(graph.prices[flow[1]]) > LEAST * scale}
    kept = {flow: amount for flow, amount in kept.items() if flow[2] != source and flow[1] != target}
    kept = {flow: amount for flow, amount in kept.items() if amount >= flows.get((flow[0], flow[2], flow[1]), 0.0)}
    order = _break_cycles(kept)
    useful = nx.ancestors(order, target) | {target} if target in order else set()
    kept = {flow: amount for flow, amount in kept.items() if flow[2] in useful}
    if source not in useful:
        return None
    reached = nx.descendants(order, source) | {source}
    kept = {flow: amount for flow, amount in kept.items() if flow[1] in reached}
    tokens = [graph.tokens[number] for number in nx.topological_sort(order) if number in useful & reached]
    return _run(router, request, tokens, kept)


def _break_cycles(flows: dict[Flow, float]) -> nx.DiGraph[int]:
    """Return the tokens' graph; of each cycle the smallest pair of tokens is taken out of the flows."""
    while True:
        graph: nx.DiGraph[int] = nx.DiGraph((one, other) for _, one, other in flows)
        try:
            cycle = nx.find_cycle(graph)
        except nx.NetworkXNoCycle:
            return graph
        sums = {pair: sum(flows[flow] for flow in flows if flow[1:] == pair) for pair in cycle}
        weakest = min(sums, key=lambda pair: sums[pair])
        for flow in [flow for flow in flows if flow[1:] == weakest]:
            del flows[flow]


def _run(router: Router, request: RouteRequest, tokens: list[Token], flows: Mapping[Flow, float]) -> Answer | None:
    """Divide what is there of each token as the flows do; the last of its swaps takes the rest."""
    graph = router.graph
    here = {request.token_in: request.amount}
    swaps = []
    for token in tokens:
        leaving = [(flow, amount) for flow, amount in flows.items() if graph.tokens[flow[1]] == token]
        total, rest = sum(amount for _, amount in leaving), here.get(token, 0)
        for place, (flow, amount) in enumerate(leaving, 1):
            part = rest if place == len(leaving) else min(rest, int(here[token] * (amount / total)))
            market, other = graph.markets[flow[0]], graph.tokens[flow[2]]
            try:
                hop, _ = market.swap_exact_in(token, other, part)
            except QuoteRefused:
                continue
            rest -= part
            here[other] = here.get(other, 0) + hop.amount_out
            swaps.append(Swap(market.id, token.key, other.key, part))
    return Answer(swaps=tuple(swaps)) if swaps else None
