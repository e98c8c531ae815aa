"""Curves that are formulas: value, inverse, limits, and their compiled twins."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from routing_engine.curves.curve import Curve
from routing_engine.curves.kernels.edge_curve import compute_amounts_in, compute_amounts_out
from routing_engine.curves.shape import Shape
from routing_engine.kernels.arrays import EDGE, Tables

BALANCE_IN, BALANCE_OUT, EXPONENT, KEPT = 5e20, 2e12, 4.0, 0.997


@pytest.fixture
def weighted() -> Curve:
    """Return an 80/20 pool."""
    return Curve.of_shape(
        Shape.WEIGHTED,
        [BALANCE_IN, BALANCE_OUT, EXPONENT, KEPT, 0.0],
        slope=KEPT * EXPONENT * BALANCE_OUT / BALANCE_IN,
        depth=BALANCE_IN / EXPONENT,
        x_min=1e9,
        x_max=1e20,
    )


def edge_of(curve: Curve) -> np.ndarray:
    """Return the curve as one packed edge whose parameters start at place 3."""
    edge = np.zeros(1, EDGE)
    edge["shape"], edge["piece"], edge["n_pieces"] = curve.shape, 3, len(curve.params)
    edge["x_min"], edge["x_max"] = curve.x_min, curve.x_max
    return edge


@pytest.mark.parametrize("x", [1e9, 1e15, 3e19, 9.9e19])
def test_weighted_value_is_the_invariants_and_the_inverse_undoes_it(weighted: Curve, x: float) -> None:
    with localcontext(prec=60):
        grown = 1 + Decimal(KEPT) * Decimal(x) / Decimal(BALANCE_IN)
        expected = Decimal(BALANCE_OUT) * (1 - grown ** -Decimal(EXPONENT))
    assert weighted(x) == pytest.approx(float(expected), rel=1e-12)
    assert weighted.inverse(weighted(x)) == pytest.approx(x, rel=1e-9)


def test_small_amounts_keep_their_digits(weighted: Curve) -> None:
    tangent = weighted.pieces[0]
    slope = tangent[2] / tangent[3]
    assert weighted(1e9) / 1e9 == pytest.approx(slope, rel=1e-9)


def test_outside_the_limits_there_is_no_value(weighted: Curve) -> None:
    assert math.isnan(weighted(1e8))
    assert math.isnan(weighted(2e20))
    assert math.isnan(weighted.inverse(BALANCE_OUT))
    assert math.isnan(weighted.inverse(BALANCE_OUT * 0.9))
    assert weighted.inverse(1e-9) == weighted.x_min


def test_kernels_give_the_same_amounts(weighted: Curve) -> None:
    tables = Tables(np.empty((0, 5)), np.concatenate([np.full(3, np.nan), weighted.params]))
    xs = np.geomspace(1e8, 2e20, 50)
    edges = np.repeat(edge_of(weighted), xs.size)
    ys = np.array([weighted(x) for x in xs])
    np.testing.assert_array_equal(compute_amounts_out(edges, tables, xs), ys)
    wanted = np.geomspace(1, 2 * BALANCE_OUT, 50)
    inverses = [weighted.inverse(y) for y in wanted]
    np.testing.assert_array_equal(compute_amounts_in(edges, tables, wanted), inverses)
