"""Formulas as Möbius pieces: how close they are, that nothing lies above what is allowed for, and their limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from routing_engine.curves.curve import X0, Y0, A, B, C, Curve
from routing_engine.curves.fitting import FittedPieces, fit_curve
from routing_engine.curves.kernels.edge_curve import compute_amounts_in, compute_amounts_out
from routing_engine.curves.kernels.mobius_pieces import ABOVE, MAX_PIECES
from routing_engine.curves.shape import Shape
from routing_engine.graph.edge_rows import describe_edges
from routing_engine.kernels.arrays import EDGE
from routing_engine.markets import ConstantProductPool
from tests.unit.engine.test_curve_shapes import FIRST, POOLS, SECOND

WEIGHTED = {
    f"weighted {exponent}": Curve.of_shape(
        Shape.WEIGHTED,
        [5e20, 2e12, exponent, 0.997, 1e-14],
        slope=0.997 * exponent * 2e12 / 5e20,
        depth=1e21 / (1.0 + exponent),
        x_min=1e9,
        x_max=1.5e20,
    )
    for exponent in (0.25, 1.0, 4.0, 49.0)
}
CURVES = WEIGHTED | {
    "series": Curve.of_shape(
        Shape.WEIGHTED_SERIES, [5e20, 2e12, 1.5, 0.997], slope=0.997 * 6e-9, depth=4e20, x_min=1e10, x_max=2e20,
        concave=False, ceiling=0.997 * 6.000001e-9,
    ),
    "solidly": Curve.of_shape(
        Shape.SOLIDLY, [1e6, 2e6, 0.9995e-18, 1e6], slope=0.9995e-12 * 14 / 13, depth=1e24, x_min=1e12, x_max=1e26,
    ),
    **{name: pool.curve(FIRST, SECOND) for name, pool in POOLS.items()},
}  # fmt: skip


@pytest.fixture(params=CURVES)
def curve(request: pytest.FixtureRequest) -> Curve:
    return CURVES[request.param]


def pack(curve: Curve, fitted: FittedPieces, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve so many times as packed edges, and a table with its pieces from row 2 on."""
    edge = np.zeros(1, EDGE)
    edge["above"], edge["piece"], edge["n_pieces"] = fitted.pieces[-1, ABOVE], 2, len(fitted.pieces)
    edge["x_min"], edge["x_max"] = curve.x_min, curve.x_max
    for name, column in (("x0", X0), ("y0", Y0), ("a", A), ("b", B), ("c", C)):
        edge[name] = fitted.pieces[0, column]
    return np.repeat(edge, count), np.vstack((np.full((2, ABOVE + 1), np.nan), fitted.pieces))


def test_pieces_are_as_close_as_the_formula_is_asked_for(curve: Curve) -> None:
    fitted = fit_curve(curve)
    assert 1 <= len(fitted.pieces) <= MAX_PIECES
    xs = np.geomspace(curve.x_min, curve.x_max * (1 - 1e-12), 4_000)
    edges, pieces = pack(curve, fitted, xs.size)
    ys, exact = compute_amounts_out(edges, pieces, xs), np.array([curve(x) for x in xs])
    error = ys / exact - 1.0
    usual = exact < 0.2 * exact[-1]
    assert abs(error[usual]).max() < 3e-6
    assert abs(error).max() < 1e-4
    back = compute_amounts_in(edges, pieces, ys * (1 - 1e-12))
    small = xs < 0.3 * curve.x_max  # further on a curve may be flat
    np.testing.assert_allclose(back[small], xs[small], rtol=1e-4)


def test_nothing_lies_above_what_is_allowed_for(curve: Curve) -> None:
    fitted, rng = fit_curve(curve), np.random.default_rng(7)
    xs = np.exp(rng.uniform(math.log(curve.x_min), math.log(curve.x_max), 5_000))
    edges, pieces = pack(curve, fitted, xs.size)
    ys, exact = compute_amounts_out(edges, pieces, xs), np.array([curve(x) for x in xs])
    above = fitted.pieces[np.searchsorted(fitted.pieces[1:, X0], xs, side="right"), ABOVE]
    assert (exact <= ys * (1 + above) * (1 + 1e-12)).all()
    assert (exact <= fitted.max_average_price * xs * (1 + 1e-12)).all()
    assert (np.diff(fitted.pieces[:, ABOVE]) >= 0.0).all()


def test_concave_pieces_never_get_steeper(curve: Curve) -> None:
    fitted = fit_curve(curve)
    # A fee that shrinks towards balance may let the price rise: of these curves one does.
    assert fitted.is_concave == (curve is not CURVES["stable mathematics"])
    if not fitted.is_concave:
        assert (fitted.pieces[:, C] < 0.0).any()
        return
    starts = fitted.pieces[:, A] / fitted.pieces[:, B]
    ends = np.append(fitted.pieces[1:, X0], curve.x_max)
    reached = fitted.pieces[:, B] + fitted.pieces[:, C] * (ends - fitted.pieces[:, X0])
    last = fitted.pieces[:, A] * fitted.pieces[:, B] / reached**2
    assert (last <= starts * (1 + 1e-9)).all()
    assert (starts[1:] <= last[:-1] * (1 + 1e-8)).all()


def test_outside_the_limits_there_is_nothing(curve: Curve) -> None:
    fitted = fit_curve(curve)
    edges, pieces = pack(curve, fitted, 2)
    assert np.isnan(compute_amounts_out(edges, pieces, np.array([curve.x_min * 0.99, curve.x_max * 1.01]))).all()
    most = float(compute_amounts_out(edges[:1], pieces, np.array([curve.x_max]))[0])
    assert np.isnan(compute_amounts_in(edges[:1], pieces, np.array([most * 1.01]))).all()


def test_a_pool_of_equal_weights_is_one_bend() -> None:
    """Its formula is a Möbius function itself: the pieces meet it everywhere."""
    curve = CURVES["weighted 1.0"]
    fitted = fit_curve(curve)
    xs = np.geomspace(1e12, 1e20, 300)
    edges, pieces = pack(curve, fitted, xs.size)
    np.testing.assert_allclose(compute_amounts_out(edges, pieces, xs), [curve(x) for x in xs], rtol=1e-9)


def test_a_curve_of_pieces_stays_as_it_is() -> None:
    pool = ConstantProductPool(
        id="1:0x", protocol="p", token0=FIRST, token1=SECOND, reserve0=10**24, reserve1=10**12, fee_pips=3_000
    )
    curve = pool.curve(FIRST, SECOND)
    fitted = fit_curve(curve)
    np.testing.assert_array_equal(fitted.pieces[:, :ABOVE], curve.pieces)
    assert not fitted.pieces[:, ABOVE].any()


def test_a_closed_market_has_edges_that_take_nothing() -> None:
    curve = Curve.of_shape(Shape.WEIGHTED, [1.0, 1.0, 1.0, 1.0, 0.0], slope=1.0, depth=1.0, x_min=2.0, x_max=1.0)
    edges, pieces = pack(curve, fit_curve(curve), 3)
    assert np.isnan(compute_amounts_out(edges, pieces, np.array([0.5, 1.5, 3.0]))).all()


def test_rows_of_edges_hold_the_pieces() -> None:
    rows = describe_edges([POOLS["two coins"]], {})
    fitted = fit_curve(POOLS["two coins"].curve(*POOLS["two coins"].edges()[0]))
    np.testing.assert_array_equal(rows.pieces[0], fitted.pieces)
    assert rows.records["above"][0] == np.float32(fitted.pieces[-1, ABOVE])
    assert rows.records["concave"][0] == 1
