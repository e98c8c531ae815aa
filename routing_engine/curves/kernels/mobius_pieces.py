"""A formula as a chain of Möbius pieces: all that searches and certificates have to know.

A piece meets the formula at both its ends and is nowhere steeper there than the formula: between, where the formula
bends as pools do, it lies below by what is third order in the piece's width. Pieces are as narrow as allocations need:
what a wrong marginal price costs grows with its square, and with what may be moved before prices differ by as much.
"""

from __future__ import annotations

import numpy as np

from routing_engine.curves.kernels.shapes import shape_out
from routing_engine.jit.decorators import allocating, inner, kernel

X0, Y0, A, B, C, ABOVE = range(6)

MAX_PIECES = 384
STEP = 1e-4
"""Relative step of the central differences by which formulas are differentiated."""

SMALLEST = 1e-4
"""Part of the depth at which the first piece ends at the latest."""

LOSS, ERROR = 1e-8, 1e-6
"""What part of a trade a wrong marginal price may cost, and how far from its output, as a part of it, that may lie."""

NOISE = 3e-7
"""Relative errors of marginal prices that never matter."""

LARGE = 10.0
"""Where trades move the price by more than the inverse of that, more of both is allowed."""

FAR = 1e9
"""Times the depth up to which the formula is looked at: the last piece goes on from there."""

DEEPEST = 9
"""How often an interval is halved at most."""

PROBES = 4
"""Inputs inside each piece at which the formula is compared with it."""

CAUTION = 2.0
"""How many times what the probes have shown is allowed for between them."""

FLAT = 1e-12
"""Relative growth of the output in a piece that is taken for none: the formula has lost its digits."""

CONVEX = 1e-9
"""Relative rise of the marginal price from one piece to the next that is taken for rounding."""


@inner
def differentiate(shape, params, x, x_max):
    """Marginal price of a formula at an input within its limits; at the largest, by what is before it."""
    h = STEP * x
    low = shape_out(shape, params, 0, x - h)
    if x + h > x_max:
        there = shape_out(shape, params, 0, x)
        return (3.0 * there - 4.0 * low + shape_out(shape, params, 0, x - 2.0 * h)) / (2.0 * h)
    return (shape_out(shape, params, 0, x + h) - low) / (2.0 * h)


@inner
def _is_close(x0, y0, slope_0, x1, y1, slope_1, slope_at_zero):
    """Whether a Möbius piece over an interval is as good as the formula."""
    rise = y1 - y0
    if rise <= FLAT * y1 or slope_1 <= 0.0:
        return True
    error = abs(slope_0 * slope_1 * ((x1 - x0) / rise) ** 2 - 1.0)
    drop, elasticity = max(1.0 - slope_1 / slope_at_zero, 1e-6), slope_1 * x1 / y1
    lenient = 1.0 + (LARGE * drop) ** 2
    if error * elasticity <= NOISE:
        return True
    return error * error * elasticity <= LOSS * drop * lenient and error * rise <= ERROR * y1 * lenient


@allocating
def find_knots(shape, params, x_min, x_max, slope, depth):
    """Find where pieces meet, and the formula's values and marginal prices there.

    Parameters
    ----------
    slope, depth : float
        As of `Curve.of_shape`.

    Returns
    -------
    knots : float64 array, shape (n, 3)
        Input, output, marginal price; n is at least 2 and at most `MAX_PIECES` + 1.
    """
    knots, size = np.empty((MAX_PIECES + 1, 3)), 1
    stack, depths = np.empty((4 * MAX_PIECES, 3)), np.zeros(4 * MAX_PIECES, np.int64)
    knots[0, 0], knots[0, 1], knots[0, 2] = x_min, shape_out(shape, params, 0, x_min) if x_min > 0.0 else 0.0, slope
    top, end = 0, min(x_max, FAR * depth)
    while True:
        stack[top, 0], stack[top, 1] = end, shape_out(shape, params, 0, end)
        stack[top, 2] = differentiate(shape, params, end, x_max)
        top += 1
        end *= 0.5 if end <= 64.0 * depth else 1.0 / 64.0
        if end <= max(SMALLEST * depth, 2.0 * x_min) or top == MAX_PIECES // 2:
            break
    while top > 0:
        x1, y1, s1, level = stack[top - 1, 0], stack[top - 1, 1], stack[top - 1, 2], depths[top - 1]
        x0, y0, s0 = knots[size - 1, 0], knots[size - 1, 1], knots[size - 1, 2]
        is_last = level == DEEPEST or size + top >= MAX_PIECES or x1 <= SMALLEST * depth
        if is_last or _is_close(x0, y0, s0, x1, y1, s1, slope):
            knots[size, 0], knots[size, 1], knots[size, 2] = x1, y1, s1
            size += 1
            top -= 1
            continue
        middle = 0.5 * (x0 + x1)
        depths[top - 1], depths[top] = level + 1, level + 1
        stack[top, 0], stack[top, 1] = middle, shape_out(shape, params, 0, middle)
        stack[top, 2] = differentiate(shape, params, middle, x_max)
        top += 1
    return knots[:size]


@inner
def _fit_piece(knots, i, piece):
    """Fill a row with the piece from knot i to the next: it meets both, and is nowhere steeper there."""
    x0, y0, width = knots[i, 0], knots[i, 1], knots[i + 1, 0] - knots[i, 0]
    rise = knots[i + 1, 1] - y0
    piece[X0], piece[Y0], piece[A], piece[B], piece[C], piece[ABOVE] = x0, y0, 0.0, 1.0, 0.0, 0.0
    if rise <= FLAT * y0 or width <= 0.0:
        return
    average, slope = rise / width, knots[i, 2]
    if knots[i + 1, 2] > 0.0:
        slope = min(slope, average * average / knots[i + 1, 2])
    curvature = (slope / average - 1.0) / width
    if abs(curvature) * width < FLAT or slope <= 0.0:
        piece[A] = average
    else:
        piece[A], piece[B], piece[C] = slope / abs(curvature), 1.0 / abs(curvature), 1.0 if curvature > 0.0 else -1.0


@inner
def _measure_above(shape, params, piece, end):
    """Return by how much the formula lies above a piece at most, as a part of the output."""
    most, width = 0.0, end - piece[X0]
    for probe in range(1, PROBES + 1):
        dx = width * probe / (PROBES + 1.0)
        y = piece[Y0] + piece[A] * dx / (piece[B] + piece[C] * dx)
        if y > 0.0:
            most = max(most, shape_out(shape, params, 0, piece[X0] + dx) / y - 1.0)
    return CAUTION * most


@kernel
def fit_pieces(shape, params, x_min, x_max, slope, depth):
    """Return a formula as Möbius pieces.

    Parameters
    ----------
    slope, depth : float
        As of `Curve.of_shape`.

    Returns
    -------
    pieces : float64 array, shape (n, 6)
        Columns of `Curve.pieces`, and `ABOVE`: the part of its output by which the formula lies above the pieces at
        most, in this piece and all before it.
    is_concave : bool
        Whether the marginal price rises neither in a piece nor from one to the next.
    max_average_price : float
        No average price of the formula exceeds it, where the pieces are concave.
    """
    knots = find_knots(shape, params, x_min, x_max, slope, depth)
    pieces, is_concave = np.empty((knots.shape[0] - 1, ABOVE + 1)), True
    above, before, price = 0.0, np.inf, 0.0
    for i in range(pieces.shape[0]):
        piece = pieces[i]
        _fit_piece(knots, i, piece)
        above = piece[ABOVE] = max(above, _measure_above(shape, params, piece, knots[i + 1, 0]))
        first = piece[A] / piece[B]
        is_concave &= piece[C] >= 0.0 and first <= before * (1.0 + CONVEX)
        q = piece[B] + piece[C] * (knots[i + 1, 0] - piece[X0])
        before = piece[A] * piece[B] / (q * q)
        price = max(price, first, piece[Y0] / piece[X0] if piece[X0] > 0.0 else 0.0)
    return pieces, is_concave, price * (1.0 + above)
