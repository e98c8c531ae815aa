"""Curves that are formulas: value, inverse and limits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import pytest

from routing_engine.curves.curve import Curve
from routing_engine.curves.shape import Shape

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
