"""Paths that together take an amount, where no single one does: where a split of it begins."""

from __future__ import annotations

from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.curves.kernels import edge_curve
from routing_engine.deadline import QUOTE
from routing_engine.errors import QuoteRefused
from routing_engine.jit.direct_call import Compiled
from routing_engine.route import Side
from routing_engine.search.allocation import Part
from routing_engine.search.path_search import replay
from routing_engine.search.query import Query
from routing_engine.search.single import Single

SMALLEST_PART = 256
"""A path that takes less than the amount divided by this is not looked for."""

BISECTIONS = 24

_compute_amounts_out = Compiled(edge_curve.compute_amounts_out)

ROUNDING = 1e-3
"""Part by which markets may take or give more than their curves say, where amounts are of few units."""


def collect_full_paths(query: Query, allowed: npt.NDArray[np.bool_]) -> list[Part]:
    """Collect paths until together they can take the request's amount, each used less than it could be.

    The market that limits one is not used by the next. Empty where they cannot take it.
    """
    request, most = query.request, list[tuple[tuple[int, ...], int]]()
    free, left, part = allowed, request.amount, request.amount
    while left > 0:
        if len(most) == request.max_splits or query.budget.is_spent():
            return []
        part = min(part, left)
        single = query.find_single(free, request.max_hops, part)
        if single is None:
            part //= 2
            if part * SMALLEST_PART < request.amount:
                return []
            continue
        amount, full = _find_most(query, single, part)
        most.append((single.edges, amount))
        left -= amount
        free = query.exclude(free, full)
    together = sum(amount for _, amount in most)
    try:
        return [(edges, _find_input(query, edges, amount * request.amount // together)) for edges, amount in most]
    except QuoteRefused:
        return []


def _find_most(query: Query, single: Single, part: int) -> tuple[int, list[str]]:
    """Return the most that the path of `part` takes, as far as it matters, and the market that declines more."""
    most, full, low, high = part, list[str](), part, query.request.amount
    for _ in range(BISECTIONS):
        query.budget.spend(QUOTE * len(single.edges))
        trial = (low + high + 1) // 2
        try:
            _find_input(query, single.edges, trial)
            low = most = trial
        except QuoteRefused as refusal:
            high, full = trial - 1, [refusal.market_id]
    return most, full


def _find_input(query: Query, edges: tuple[int, ...], amount: int) -> int:
    """Return what a path spends to serve an amount."""
    return replay(query.graph.edges_ends(edges), query.request.side, amount)[0].amount_in


def bound_amount(query: Query, allowed: npt.NDArray[np.bool_]) -> float:
    """Return the most that all markets at the end where the amount is asked for take, or give for exact-out."""
    graph, request = query.graph, query.request
    is_exact_out = request.side == Side.EXACT_OUT
    adjacency = graph.reverse if is_exact_out else graph.forward
    token = graph.index[request.token_out if is_exact_out else request.token_in]
    edges = adjacency.edges[adjacency.first[token] : adjacency.first[token + 1]]
    edges = edges[allowed[edges["market"]]]
    if not is_exact_out:
        return float(edges["x_max"].sum()) * (1.0 + ROUNDING)
    return float(_bound_outputs(edges, graph.pieces).sum()) * (1.0 + ROUNDING)


def _bound_outputs(edges: npt.NDArray[np.void], pieces: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return what edges give at most, in smallest units; infinite where that is not known.

    A curve that is not concave lies below the line of its largest average price.
    """
    taken = edges["x_max"]
    given = taken * edges["max_average_price"]
    is_sharp = edges["concave"] != 0
    given[is_sharp] = _compute_amounts_out(edges[is_sharp], pieces, taken[is_sharp])
    outputs: npt.NDArray[np.float64] = np.nan_to_num(given * (1.0 + edges["above"]), nan=inf, posinf=inf)
    return outputs
