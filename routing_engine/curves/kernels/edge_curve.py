"""Values of one edge: the compiled twin of `routing_engine.curves.curve.Curve`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from routing_engine.curves.kernels.mobius_pieces import ABOVE, X0, Y0, A, B, C
from routing_engine.curves.shape import REFUSED
from routing_engine.jit.decorators import inner, kernel


@inner
def find_last_row(pieces, column, low, count, value):
    """Row of the last piece whose `column` is at most `value`; rows are sorted, the first always qualifies."""
    high = low + count
    while high - low > 1:
        middle = (low + high) // 2
        if pieces[middle, column] <= value:
            low = middle
        else:
            high = middle
    return low


@inner
def compute_amount_out(edge, pieces, x):
    """Output of an edge for input `x` and the number of further pieces entered; `REFUSED` outside its limits."""
    if x < edge["x_min"] or x > edge["x_max"]:
        return REFUSED, 0
    if edge["n_pieces"] == 1:
        dx = x - edge["x0"]
        return edge["y0"] + edge["a"] * dx / (edge["b"] + edge["c"] * dx), 0
    row = find_last_row(pieces, X0, edge["piece"], edge["n_pieces"], x)
    dx = x - pieces[row, X0]
    y = pieces[row, Y0] + pieces[row, A] * dx / (pieces[row, B] + pieces[row, C] * dx)
    return y, row - edge["piece"]


@inner
def compute_amount_in(edge, pieces, y):
    """Least input of an edge whose output is `y`, and the number of further pieces entered; or `REFUSED`."""
    row = edge["piece"]
    if edge["n_pieces"] == 1:
        x0, y0, a, b, c = edge["x0"], edge["y0"], edge["a"], edge["b"], edge["c"]
    else:
        row = find_last_row(pieces, Y0, edge["piece"], edge["n_pieces"], y)
        x0, y0, a, b, c = pieces[row, X0], pieces[row, Y0], pieces[row, A], pieces[row, B], pieces[row, C]
    rest = a - c * (y - y0)
    if rest <= 0.0:
        return REFUSED, 0
    x = max(edge["x_min"], x0 + b * (y - y0) / rest)
    if x > edge["x_max"]:
        return REFUSED, 0
    return x, row - edge["piece"]


@inner
def bound_above(edge, pieces, x):
    """Return how many times the output of an edge's pieces its market may give, for inputs up to `x`."""
    if edge["above"] == 0.0:
        return 1.0
    return 1.0 + pieces[find_last_row(pieces, X0, edge["piece"], edge["n_pieces"], x), ABOVE]


@kernel
def compute_amounts_out(edges, pieces, xs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return outputs of `edges[i]` for `xs[i]`, NaN where refused."""
    ys = np.empty_like(xs)
    for i in range(xs.size):
        y, _ = compute_amount_out(edges[i], pieces, xs[i])
        ys[i] = np.nan if y == REFUSED else y
    return ys


@kernel
def compute_amounts_in(edges, pieces, ys: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return least inputs of `edges[i]` for `ys[i]`, NaN where refused."""
    xs = np.empty_like(ys)
    for i in range(ys.size):
        x, _ = compute_amount_in(edges[i], pieces, ys[i])
        xs[i] = np.nan if x == REFUSED else x
    return xs
