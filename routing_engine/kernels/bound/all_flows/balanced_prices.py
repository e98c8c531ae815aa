"""Prices of tokens at which as much comes to each as leaves it.

Newton's method on `flow_value.value_amount` in the logarithms of prices, with damping (Levenberg, Marquardt). Corners
are rounded much at first and then less and less: with none, what a straight edge takes says nothing of how far a price
is from its corner.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import allocating, inner
from routing_engine.kernels.bound.all_flows.flow_value import value_amount
from routing_engine.kernels.skyline import Skyline, factorise, solve
from routing_engine.kernels.work import PRODUCTS, is_overdrawn, spend

ROUNDED = (0.03, 0.003, 3e-4, 3e-5, 3e-6)
"""Parts by which the price of a straight edge falls until it is full, one after the other."""

STEPS, SETTLED = 40, 0.02
"""Steps of Newton's method for each; they end where one promises less than this part of the rounding."""

LONGEST, SHORTEST, ENOUGH = 2.0, 2.0**-12, 1e-4
"""The most that the logarithm of a price changes in a step, the least part of a step that is tried, and the part of
what a step promises that it must bring."""

DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-12, 1e6
"""What is added to the diagonal at first, at least and at most, as a part of what crosses a token."""

ROOM = 2.0
"""How many times the amount's value a straight edge takes at most while prices are looked for."""

MANY_ENTRIES, MANY_TOKENS = 60_000, 4_000
"""Entries of a matrix, and tokens of a market, beyond which a bound takes too long."""

ROUNDING = 1e-9
"""More than the relative error of a bound."""


@allocating
def _create_matrix(edges):
    """Make room for a matrix of all tokens but the end; of none where it would be too large."""
    tokens = edges.tokens.size - 1
    first, place, size = np.arange(tokens), np.zeros(tokens, np.int64), 0
    for k in range(edges.edge.size):
        low, high = min(edges.source[k], edges.target[k]), max(edges.source[k], edges.target[k])
        if high < tokens:
            first[high] = min(first[high], low)
    for i in range(tokens):
        place[i] = size - first[i]
        size += i - first[i] + 1
    return Skyline(first, place, np.zeros(size if size <= MANY_ENTRIES else 0), np.zeros(tokens))


@allocating
def _price_by_reference(edges, problem):
    """Return prices of tokens by number from reference prices; of those without one, what their best edge gives."""
    units, last = problem.units, edges.tokens.size - 1
    price, forward = np.zeros(last + 1), problem.graph.forward.edges
    for i in range(last + 1):
        if units[edges.tokens[i]] > 0.0:
            price[i] = units[problem.end] / units[edges.tokens[i]]
    price[last], any_is = 1.0, True
    while any_is:
        any_is = False
        for place in range(edges.edge.size):
            u, v = edges.source[place], edges.target[place]
            if price[u] == 0.0 and price[v] > 0.0:
                price[u], any_is = price[v] * forward[edges.edge[place]]["max_average_price"], True
    return price


@allocating
def begin_prices(edges, problem):
    """Return room for a matrix, the start's number and prices to begin with; -1 as the number where there are none."""
    matrix, start = _create_matrix(edges), -1
    if matrix.entries.size == 0:
        return matrix, start, np.zeros(0)
    for i in range(edges.tokens.size - 1):
        if edges.tokens[i] == problem.start:
            start = i
    price = _price_by_reference(edges, problem)
    return matrix, start if price.min() > 0.0 else -1, price


@inner
def _add_damping(matrix, surplus, crossed, damping):
    """Add to the diagonal what comes too much, which belongs to it, and the damping."""
    for i in range(crossed.size):
        matrix.entries[matrix.place[i] + i] += max(0.0, surplus[i]) + damping * crossed[i]


@inner
def _find_step(matrix, surplus, crossed, damping, step):
    """Fill the step of Newton's method, no longer than the longest; return what it promises, 0 if there is none."""
    _add_damping(matrix, surplus, crossed, damping)
    step[:] = 0.0
    if not factorise(matrix):
        return 0.0
    longest = LONGEST
    for i in range(crossed.size):
        step[i] = -surplus[i]
    solve(matrix, step)
    for i in range(crossed.size):
        longest = max(longest, abs(step[i]))
    promised = 0.0
    for i in range(crossed.size):
        step[i] *= LONGEST / longest
        promised -= surplus[i] * step[i]
    return promised


@inner
def _count_work(edges, matrix):
    """Return the steps of valuing the amount once, a step for each edge."""
    return edges.edge.size + matrix.entries.size // PRODUCTS


@allocating
def settle_prices(edges, problem, start, price, cap, rounded, matrix, known):
    """Move prices to where the amount is worth least with corners rounded by a part.

    `known` is the value that the rounding is a part of.
    """
    tokens = price.size - 1
    surplus, step, tried = np.zeros(tokens + 1), np.zeros(tokens), price.copy()
    crossed = np.zeros(tokens)
    value = value_amount(edges, problem, start, price, cap, rounded, surplus, matrix)
    damping = DAMPING
    for _ in range(STEPS):
        spend(problem.work, _count_work(edges, matrix) * 2)
        for i in range(tokens):
            crossed[i] = matrix.entries[matrix.place[i] + i] + abs(surplus[i]) + ROUNDING * known
        promised = _find_step(matrix, surplus, crossed, damping, step)
        if promised <= SETTLED * rounded * known or is_overdrawn(problem.work):
            break
        part, before = 1.0, value
        while part >= SHORTEST:
            for i in range(tokens):
                tried[i] = price[i] * np.exp(part * step[i])
            value = value_amount(edges, problem, start, tried, cap, rounded, surplus, matrix)
            spend(problem.work, _count_work(edges, matrix))
            if value <= before - ENOUGH * part * promised:
                break
            part *= 0.5
        if part < SHORTEST:
            if damping >= MOST_DAMPING:
                break
            damping = min(MOST_DAMPING, damping * 100.0)
            value = value_amount(edges, problem, start, price, cap, rounded, surplus, matrix)
            continue
        price[:] = tried
        damping = max(LEAST_DAMPING, damping * 0.1) if part == 1.0 else min(MOST_DAMPING, damping * 4.0)
