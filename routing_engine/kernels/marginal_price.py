"""Marginal prices and net average prices of one edge: what splitting is made of."""

from __future__ import annotations

import math

import numpy as np

from routing_engine.curves.kernels.edge_curve import bound_above, find_last_row
from routing_engine.curves.kernels.mobius_pieces import X0, Y0, A, B, C
from routing_engine.jit.decorators import inner


@inner
def find_piece(edge, pieces, x, guess):
    """Return the row of the piece that input `x` is in; `guess` is where to look first."""
    first = edge["piece"]
    end = first + edge["n_pieces"]
    if first <= guess < end and pieces[guess, X0] <= x and (guess + 1 == end or pieces[guess + 1, X0] > x):
        return np.int64(guess)
    return np.int64(find_last_row(pieces, X0, first, edge["n_pieces"], x))


@inner
def compute_derivatives(edge, pieces, x):
    """Output, marginal price and its derivative at input `x`, which must be within the edge's range or 0."""
    row = np.int64(edge["piece"])
    if edge["n_pieces"] > 1:
        row = np.int64(find_last_row(pieces, X0, edge["piece"], edge["n_pieces"], x))
    return compute_derivatives_in(edge, pieces, row, x)


@inner
def compute_derivatives_in(edge, pieces, row, x):
    """Return the same where it is known in which piece `x` is."""
    x0, y0, a, b, c = read_piece(edge, row, pieces)
    q = b + c * (x - x0)
    return y0 + a * (x - x0) / q, a * b / (q * q), -2.0 * a * b * c / (q * q * q)


@inner
def value_base_gas(edge, gas):
    """Value of the gas of a swap that stays in the first piece, in units of the target."""
    return edge["gas"] * gas[edge["chain"]]


@inner
def read_piece(edge, row, pieces):
    """Return x0, y0, a, b and c of a piece."""
    if edge["n_pieces"] == 1:
        return edge["x0"], edge["y0"], edge["a"], edge["b"], edge["c"]
    p = pieces[row]
    return p[X0], p[Y0], p[A], p[B], p[C]


@inner
def value_piece_gas(edge, gas):
    """Value of the gas of every further piece that a swap enters."""
    return edge["gas_per_piece"] * gas[edge["chain"]]


@inner
def value_gas(edge, pieces, gas, flow):
    """Value of the gas of a swap of `flow`, with the pieces that it enters."""
    step = value_piece_gas(edge, gas)
    if edge["n_pieces"] == 1 or step == 0.0:
        return value_base_gas(edge, gas)
    row = find_last_row(pieces, X0, edge["piece"], edge["n_pieces"], flow)
    return value_base_gas(edge, gas) + step * (row - edge["piece"])


@inner
def bound_net_rate(edge, pieces, dual_price, cost, most):
    """Upper bound of ``(dual_price * y(f) - cost) / f`` over inputs f up to `most`; tight where the curve is concave.

    It is the price of a unit of input at which an edge with a fixed cost just stops being of use: the slope of the
    tangent to the curve from the point (0, cost / dual_price).
    """
    return bound_net_rate_with_steps(edge, pieces, dual_price, cost, 0.0, most)


@inner
def bound_net_rate_soon(edge, dual_price, cost, most):
    """Return what `bound_net_rate_with_steps` is no larger than; of most edges that do not count, it is enough."""
    return max(0.0, dual_price * edge["max_average_price"] - cost / min(most, edge["x_max"]))


@inner
def bound_net_rate_with_steps(edge, pieces, dual_price, cost, step, most):
    """`bound_net_rate` where each further piece that a swap enters costs `step` more."""
    most = min(most, edge["x_max"])
    if dual_price <= 0.0 or most <= 0.0 or most < edge["x_min"]:
        return 0.0
    ceiling = bound_net_rate_soon(edge, dual_price, cost, most)
    if cost <= 0.0 or edge["concave"] == 0 or ceiling == 0.0:
        return ceiling
    first, dual_price = edge["piece"], dual_price * bound_above(edge, pieces, most)
    rate, row = _fit_tangent_to_pieces(edge, pieces, dual_price, cost, most, first)
    if step > 0.0 and row > first:
        # From the piece on that the tangent touches, all pieces before it are paid for. In those before it the rate
        # still grows, so it is largest where they end, and the less the farther they are.
        best, _ = _fit_tangent_to_pieces(edge, pieces, dual_price, cost + step * (row - first), most, row)
        for r in range(row, first, -1):
            x = pieces[r, X0]
            rest = (dual_price * pieces[r, Y0] - cost) / x
            if rest <= best:
                break
            best = max(best, rest - step * (r - 1 - first) / x)
        rate = min(rate, best)
    return min(ceiling, rate)


@inner
def _fit_tangent_to_pieces(edge, pieces, dual_price, cost, most, low):
    """Largest ``(dual_price * y(f) - cost) / f`` of a concave curve from piece `low` on, and the piece it is in."""
    need = cost / dual_price
    high = end_row = edge["piece"] + edge["n_pieces"]
    while high - low > 1:  # the last piece that begins where the tangent still lies below `need`
        middle = (low + high) // 2
        p = pieces[middle]
        if p[X0] < most and p[Y0] - p[X0] * p[A] / p[B] <= need:
            low = middle
        else:
            high = middle
    x0, y0, a, b, c = read_piece(edge, low, pieces)
    end = most
    if low + 1 < end_row:
        end = min(most, pieces[low + 1, X0])
    f = end
    if c > 0.0:
        # k2 d^2 - 2 k1 d - k0 = 0 with d = f - x0. In powers of b + c d instead, all digits of a small d would be lost.
        m = need - y0
        k2, k1, k0 = c * (a - m * c), m * b * c, b * (m * b + a * x0)
        if k2 > 0.0:
            root = math.sqrt(max(0.0, k1 * k1 + k2 * k0))
            f = x0 + ((k1 + root) / k2 if k1 >= 0.0 else k0 / (root - k1))
    f = min(max(f, x0, edge["x_min"]), end)
    if f <= 0.0:
        return dual_price * edge["max_average_price"], low
    y = y0 + a * (f - x0) / (b + c * (f - x0))
    return max(0.0, (dual_price * y - cost) / f), low


@inner
def find_arbitrage(edge, pieces, dual_price, price, most):
    """Largest ``dual_price * y(f) - price * f`` over inputs f up to `most`, and its f, for a concave edge."""
    most = min(most, edge["x_max"])
    if most <= 0.0 or most < edge["x_min"] or dual_price * edge["max_average_price"] <= price:
        return 0.0, 0.0
    low = edge["piece"]
    high = end_row = low + edge["n_pieces"]
    while high - low > 1:
        middle = (low + high) // 2
        p = pieces[middle]
        if p[X0] < most and dual_price * p[A] / p[B] > price:
            low = middle
        else:
            high = middle
    x0, y0, a, b, c = read_piece(edge, low, pieces)
    end = most
    if low + 1 < end_row:
        end = min(most, pieces[low + 1, X0])
    f = end
    if c > 0.0:
        f = x0 + (math.sqrt(dual_price * a * b / price) - b) / c if price > 0.0 else end
    f = min(max(f, x0, edge["x_min"]), end)
    y = y0 + a * (f - x0) / (b + c * (f - x0))
    return max(0.0, dual_price * y - price * f), f
