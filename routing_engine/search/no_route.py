"""Why a request has no route: one reason for each protocol."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from routing_engine.curves.kernels.edge_curve import compute_amounts_in, compute_amounts_out
from routing_engine.errors import Refusal
from routing_engine.graph.graph import Graph
from routing_engine.request import RouteRequest
from routing_engine.result import DENIED, NO_PATH, Status, Unavailable
from routing_engine.route import Side

UNREACHABLE = 99
"""Hops to a token that no path reaches."""


def explain(
    graph: Graph, request: RouteRequest, allowed: npt.NDArray[np.bool_]
) -> tuple[Status, tuple[Unavailable, ...]]:
    """Tell whether paths exist at all, and what each protocol's markets said to the amounts that reach them."""
    on_path = _find_edges_on_paths(graph, request, allowed)
    reasons: dict[str, Refusal | str] = dict.fromkeys(graph.protocols, NO_PATH)
    usable = {graph.markets[number].protocol for number in np.flatnonzero(allowed)}
    reasons |= dict.fromkeys(graph.protocols - usable, DENIED)
    if not on_path.any():
        return Status.NO_ROUTE, _list_entries(reasons)
    for row, reason in _collect_refusals(graph, request, on_path):
        protocol = graph.markets[graph.forward.edges[row]["market"]].protocol
        if reasons[protocol] in (NO_PATH, Refusal.AMOUNT_TOO_LOW):
            reasons[protocol] = reason
    return Status.INSUFFICIENT_LIQUIDITY, _list_entries(reasons)


def _list_entries(reasons: dict[str, Refusal | str]) -> tuple[Unavailable, ...]:
    return tuple(Unavailable(protocol=protocol, reason=reason) for protocol, reason in sorted(reasons.items()))


def _find_edges_on_paths(graph: Graph, request: RouteRequest, allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Mask of the forward edges that lie on some walk of at most `max_hops` from source to target."""
    edges = graph.forward.edges
    if request.token_in not in graph.index or request.token_out not in graph.index:
        return np.zeros(edges.size, np.bool_)
    usable = allowed[edges["market"]]
    from_start = _measure_distances(
        graph, graph.index[request.token_in], graph.source, edges["other"], usable, request.max_hops
    )
    to_end = _measure_distances(
        graph, graph.index[request.token_out], edges["other"], graph.source, usable, request.max_hops
    )
    mask: npt.NDArray[np.bool_] = usable & (from_start[graph.source] + 1 + to_end[edges["other"]] <= request.max_hops)
    return mask


def _measure_distances(
    graph: Graph,
    start: int,
    tails: npt.NDArray[np.int32],
    heads: npt.NDArray[np.int32],
    usable: npt.NDArray[np.bool_],
    rounds: int,
) -> npt.NDArray[np.int64]:
    distance = np.full(len(graph.tokens), UNREACHABLE)
    distance[start] = 0
    for k in range(rounds):
        reached = heads[usable & (distance[tails] == k)]
        distance[reached] = np.minimum(distance[reached], k + 1)
    return distance


def _collect_refusals(graph: Graph, request: RouteRequest, on_path: npt.NDArray[np.bool_]) -> list[tuple[int, Refusal]]:
    """Carry the largest (exact-in) or least (exact-out) amounts over all walks; note the edges that decline them."""
    rows = np.flatnonzero(on_path)
    edges = graph.forward.edges[rows]
    exact_out = request.side == Side.EXACT_OUT
    tails, heads = (edges["other"], graph.source[rows]) if exact_out else (graph.source[rows], edges["other"])
    best = np.full(len(graph.tokens), np.nan)
    best[graph.index[request.token_out if exact_out else request.token_in]] = float(request.amount)
    noted: dict[int, Refusal] = {}
    chains = [token.chain_id for token in graph.tokens]
    for _ in range(request.max_hops):
        here = np.flatnonzero(~np.isnan(best[tails]))
        amounts = best[tails[here]]
        carry = compute_amounts_in if exact_out else compute_amounts_out
        results = carry(edges[here], graph.pieces, amounts)
        for i in np.flatnonzero(~(results >= 1.0)):
            edge, row = edges[here[i]], int(rows[here[i]])
            is_bridge = chains[graph.source[row]] != chains[edge["other"]]
            reason = _choose_reason(edge, amounts[i], results[i], exact_out=exact_out, is_bridge=is_bridge)
            noted.setdefault(row, reason)
        good = results >= 1.0
        merge = np.fmin if exact_out else np.fmax
        merge.at(best, heads[here[good]], results[good])
    return list(noted.items())


def _choose_reason(edge: np.void, amount: float, result: float, *, exact_out: bool, is_bridge: bool) -> Refusal:
    if result < 1.0 or (not exact_out and amount < edge["x_min"]):
        return Refusal.AMOUNT_TOO_LOW
    return Refusal.AMOUNT_TOO_HIGH if is_bridge else Refusal.INSUFFICIENT_LIQUIDITY
