"""Marginal prices and net average prices of one edge: what splitting is made of."""

from __future__ import annotations

import math

from numba import njit

from routing_engine.kernels.curves import PIECES, X0, Y0, A, B, C, last_row_at_most
from routing_engine.kernels.shapes import shape_out

STEP = 1e-4
"""Relative step of the central differences by which formulas without pieces are differentiated."""


@njit(cache=True, nogil=True)
def derivatives(edge, tables, x):
    """Output, marginal price and its derivative at input `x`, which must be within the edge's range or 0."""
    if edge["shape"] != PIECES:
        if x <= 0.0:
            return 0.0, edge["a"] / edge["b"], 0.0
        h = STEP * x
        low = shape_out(edge["shape"], tables.params, edge["piece"], x - h)
        mid = shape_out(edge["shape"], tables.params, edge["piece"], x)
        high = shape_out(edge["shape"], tables.params, edge["piece"], x + h)
        return mid, (high - low) / (2.0 * h), min(0.0, (high - 2.0 * mid + low) / (h * h))
    if edge["n_pieces"] == 1:
        x0, y0, a, b, c = edge["x0"], edge["y0"], edge["a"], edge["b"], edge["c"]
    else:
        row = last_row_at_most(tables.pieces, X0, edge["piece"], edge["n_pieces"], x)
        p = tables.pieces[row]
        x0, y0, a, b, c = p[X0], p[Y0], p[A], p[B], p[C]
    q = b + c * (x - x0)
    return y0 + a * (x - x0) / q, a * b / (q * q), -2.0 * a * b * c / (q * q * q)


@njit(cache=True, nogil=True)
def initial_slope(edge):
    """Largest average price of an edge: its marginal price at zero, for a lane with a flat fee that of its line."""
    return edge["a"] / edge["b"]


@njit(cache=True, nogil=True)
def best_net_rate(edge, tables, price_out, cost, most):
    """Largest of ``(price_out * y(f) - cost) / f`` over inputs f up to `most`: an upper bound that is tight for pieces.

    The worth of one unit of input at which an edge with a fixed cost just stops to be of use.
    """
    most = min(most, edge["x_max"])
    if price_out <= 0.0 or most <= 0.0 or most < edge["x_min"]:
        return 0.0
    if edge["shape"] != PIECES:
        return max(0.0, price_out * edge["a"] / edge["b"] - cost / most)
    if cost <= 0.0 and edge["y0"] >= 0.0 and edge["x0"] == 0.0:
        return price_out * edge["a"] / edge["b"]
    need = cost / price_out  # the tangent from (0, need) touches where y - f * y' = need
    count, row = edge["n_pieces"], edge["piece"]
    if count == 1:
        x0, y0, a, b, c = edge["x0"], edge["y0"], edge["a"], edge["b"], edge["c"]
        end = most
    else:
        low, high = row, row + count
        while high - low > 1:
            middle = (low + high) // 2
            p = tables.pieces[middle]
            if p[X0] < most and p[Y0] - p[X0] * p[A] / p[B] <= need:
                low = middle
            else:
                high = middle
        p = tables.pieces[low]
        x0, y0, a, b, c = p[X0], p[Y0], p[A], p[B], p[C]
        end = min(most, tables.pieces[low + 1, X0]) if low + 1 < row + count else most
    f = end
    if c > 0.0:
        # (y0 - need + a / c) q^2 - (2 a b / c) q + a b (b / c - x0) = 0 with q = b + c (f - x0)
        k2, k1, k0 = y0 - need + a / c, -2.0 * a * b / c, a * b * (b / c - x0)
        square = k1 * k1 - 4.0 * k2 * k0
        if k2 > 0.0 and square >= 0.0:
            f = x0 + ((-k1 + math.sqrt(square)) / (2.0 * k2) - b) / c
    f = min(max(f, x0, edge["x_min"]), end)
    if f <= 0.0:
        return price_out * a / b
    y = y0 + a * (f - x0) / (b + c * (f - x0))
    return max(0.0, (price_out * y - cost) / f)
