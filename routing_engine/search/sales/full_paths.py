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
from routing_engine.search.allocations.allocation import Part
from routing_engine.search.paths.path_search import replay
from routing_engine.search.splits.query import Query

SMALLEST_PART = 256
"""A path that takes less than the amount divided by this is not looked for."""

BISECTIONS = 24

LAST_BISECTIONS = 256
"""As many find the last unit, whatever the amount is."""

UNIT = 1.0
"""What a market that rounds up may give more than its curve, smallest units."""

Full = tuple[tuple[int, ...], int]
"""The forward edges of a path, and the most that it takes."""

_compute_amounts_out = Compiled(edge_curve.compute_amounts_out)

BEYOND, STEP = 8.0, 1e-3
"""How many times the largest input of its curve a market with an approximated formula takes at most, as such curves
keep a distance from the contract's own limits; and the part of that input over which its last slope is measured.
"""

ROUNDING = 1e-3
"""Part by which markets may take or give more than their curves say, where amounts are of few units."""


def collect_full_paths(query: Query, allowed: npt.NDArray[np.bool_]) -> list[Part]:
    """Collect paths until together they can take the request's amount, each used less than it could be.

    The market that limits one is not used by the next. Empty where they cannot take it.
    """
    request, most = query.request, list[Full]()
    free, left, part = allowed, request.amount, request.amount
    while left > 0:
        if len(most) == request.max_splits or query.budget.is_spent():
            return []
        part = min(part, left)
        single = query.find_single(free, request.max_hops, part)
        if single is None:
            part //= 2
            if part * SMALLEST_PART < request.amount:
                most, left = _use_up(query, most, left)
                break
            continue
        amount, full = _find_most(query, single.edges, part, request.amount, BISECTIONS)
        most.append((single.edges, amount))
        left -= amount
        free = query.exclude(free, full)
    if left > 0:
        return []
    together = sum(amount for _, amount in most)
    try:
        return [(edges, _find_input(query, edges, amount * request.amount // together)) for edges, amount in most]
    except QuoteRefused:
        return []


def _find_most(query: Query, edges: tuple[int, ...], part: int, high: int, bisections: int) -> tuple[int, list[str]]:
    """Return the most up to `high` that a path takes which takes `part`, and the market that declines more."""
    most, full = part, list[str]()
    for _ in range(bisections):
        if most >= high:
            break
        query.budget.spend(QUOTE * len(edges))
        trial = (most + high + 1) // 2
        try:
            _find_input(query, edges, trial)
            most = trial
        except QuoteRefused as refusal:
            high, full = trial - 1, [refusal.market_id]
    return most, full


def _use_up(query: Query, paths: list[Full], left: int) -> tuple[list[Full], int]:
    """Return paths with what bisections left of each, and what is left of an amount that is nearly all there is."""
    coarse = query.request.amount >> BISECTIONS
    if left > (coarse + 1) * len(paths):
        return paths, left
    used = list[Full]()
    for edges, part in paths:
        amount, _ = _find_most(query, edges, part, part + min(left, coarse + 1), LAST_BISECTIONS)
        used.append((edges, amount))
        left -= amount - part
    return used, left


def _find_input(query: Query, edges: tuple[int, ...], amount: int) -> int:
    """Return what a path spends to serve an amount."""
    return replay(query.graph.edges_ends(edges), query.request.side, amount)[0].amount_in


def bound_amount(query: Query, allowed: npt.NDArray[np.bool_]) -> float:
    """Return the most that markets take of what is sold, or for exact-out what can be bought however much is sold."""
    graph, request = query.graph, query.request
    if request.side == Side.EXACT_OUT:
        return _bound_bought(query, allowed)
    token = graph.index[request.token_in]
    edges = graph.forward.edges[graph.forward.first[token] : graph.forward.first[token + 1]]
    return float(edges["x_max"][allowed[edges["market"]]].sum()) * (1.0 + ROUNDING)


def _bound_bought(query: Query, allowed: npt.NDArray[np.bool_]) -> float:
    """Return the most that can arrive at the end over paths of as many hops as the request allows.

    What is at a token after so many hops is at most what all edges give for what was at the tokens before them; without
    end at the start, and nothing elsewhere to begin with.
    """
    graph = query.graph
    start, end = (graph.index[token] for token in (query.request.token_in, query.request.token_out))
    usable = allowed[graph.forward.edges["market"]] & (graph.forward.edges["other"] != start) & (graph.source != end)
    edges, tails = graph.forward.edges[usable], graph.source[usable]
    given = np.zeros(edges.size)
    for _ in range(query.request.max_hops):
        there = np.zeros(len(graph.tokens))
        np.add.at(there, edges["other"], given)
        there[start] = inf
        given = _bound_outputs(edges, graph.pieces, there[tails])
    into = edges["other"] == end
    best = np.zeros(len(graph.markets))
    np.maximum.at(best, edges["market"][into], given[into])  # a route uses one edge of a market
    return float(best.sum())


def _bound_outputs(
    edges: npt.NDArray[np.void], pieces: npt.NDArray[np.float64], there: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return what edges give at most for what is at their tokens, in smallest units; infinite where it is not known.

    A curve that is not concave lies below the line of its largest average price. More than is there may come over
    longer paths, so that an edge's least input is reached.
    """
    most, is_sharp = edges["x_max"], edges["concave"] != 0
    taken = np.minimum(np.maximum(there, edges["x_min"]), most)
    given = taken * edges["max_average_price"]
    given[is_sharp] = _compute_amounts_out(edges[is_sharp], pieces, taken[is_sharp])
    beyond = np.minimum(there, BEYOND * most) - taken
    is_beyond = (beyond > 0.0) & (edges["above"] > 0.0)
    if is_beyond.any():
        ends = edges[is_beyond]
        before = _compute_amounts_out(ends, pieces, most[is_beyond] * (1.0 - STEP))
        slope = np.where(ends["concave"] != 0, (given[is_beyond] - before) / (most[is_beyond] * STEP), np.inf)
        given[is_beyond] += beyond[is_beyond] * np.minimum(slope, ends["max_average_price"])
    given = np.nan_to_num(given * (1.0 + edges["above"]), nan=inf, posinf=inf) * (1.0 + ROUNDING) + UNIT
    return np.where(there > 0.0, given, 0.0)
