"""Prices at which markets earn little: those that exclude edges, see `exclusion`.

A reference price follows the deepest chain of markets, whatever others say. Where markets of one token disagree, one of
them then seems to earn a fortune. So the token's price is moved to where its markets together earn least beside their
gas: a convex function of the price, searched by golden section. A few tokens are moved; any prices would do.
"""

from __future__ import annotations

import math

import numpy as np

from routing_engine.curves.kernels.edge_curve import bound_above
from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.marginal_price import find_arbitrage, value_base_gas

PASSES = 3
"""How often prices are moved: a token's neighbours move as well."""

SPAN, STEPS = 4.0, 28
"""Logarithms by which a price moves at most in a pass, and steps of the golden section: to within a hundred-thousandth
of a span."""

GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


@inner
def find_gain(edge, pieces, here, there, most):
    """Return the surplus of an edge between tokens of these prices, for inputs up to `most`.

    The surplus of edges that are not concave is bounded by their best average price.
    """
    if there * edge["max_average_price"] <= here:
        return 0.0
    most = min(most, edge["x_max"])
    if edge["concave"] == 0:
        return most * (there * edge["max_average_price"] - here)
    earned, _ = find_arbitrage(edge, pieces, there * bound_above(edge, pieces, most), here, most)
    return earned


@inner
def _add_up_gains(token, price, graph, prices, gas):
    """Return what all markets of a token earn beside their gas, at a price of it."""
    forward, reverse, total = graph.forward, graph.reverse, 0.0
    for e in range(forward.first[token], forward.first[token + 1]):
        edge = forward.edges[e]
        if prices[edge["other"]] > 0.0:
            gain = find_gain(edge, graph.pieces, price, prices[edge["other"]], np.inf)
            total += max(0.0, gain - value_base_gas(edge, gas))
    for row in range(reverse.first[token], reverse.first[token + 1]):
        edge = reverse.edges[row]
        if prices[edge["other"]] > 0.0:
            gain = find_gain(edge, graph.pieces, prices[edge["other"]], price, np.inf)
            total += max(0.0, gain - value_base_gas(edge, gas))
    return total


@inner
def _move_price(token, graph, prices, gas):
    """Move a token's price to where its markets earn least; return whether that is less than before."""
    low, high = math.log(prices[token]) - SPAN, math.log(prices[token]) + SPAN
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left = _add_up_gains(token, math.exp(left), graph, prices, gas)
    at_right = _add_up_gains(token, math.exp(right), graph, prices, gas)
    for _ in range(STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = _add_up_gains(token, math.exp(left), graph, prices, gas)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = _add_up_gains(token, math.exp(right), graph, prices, gas)
    before = _add_up_gains(token, prices[token], graph, prices, gas)
    if min(at_left, at_right) < before:
        prices[token] = math.exp(left if at_left <= at_right else right)
        return True
    return False


@kernel
def settle_prices(graph, prices, gas):
    """Move prices to where markets earn little beside their gas.

    Parameters
    ----------
    graph : GraphArrays
    prices : float64 array
        Worth of each token's smallest unit in the root's, 0 where unknown; changed in place.
    gas : float64 array
        Worth of a gas unit by chain, in the root's smallest units.
    """
    first, is_moved = graph.forward.first, np.zeros(prices.size, np.bool_)
    for _ in range(PASSES):
        is_moved[:] = False
        for u in range(prices.size):
            for e in range(first[u], first[u + 1]):
                edge = graph.forward.edges[e]
                v = edge["other"]
                gain = find_gain(edge, graph.pieces, prices[u], prices[v], np.inf)
                if prices[u] > 0.0 and prices[v] > 0.0 and gain > value_base_gas(edge, gas):
                    is_moved[u if first[u + 1] - first[u] < first[v + 1] - first[v] else v] = True
        any_is = False
        for token in range(prices.size):
            if is_moved[token] and prices[token] > 0.0:
                any_is |= _move_price(token, graph, prices, gas)
        if not any_is:
            break
