"""The float64 shape of one direction of a pool of the Solidly family."""

from __future__ import annotations

import numpy as np

from routing_engine.curves.curve import Curve
from routing_engine.curves.shape import Shape
from routing_engine.fixed_point import PIPS, WAD
from routing_engine.markets.common.closed import CLOSED_PIECES
from routing_engine.markets.solidly.direction import SolidlyDirection

DEEPEST = 100.0
"""A balanced stable pool's price does not move at first; no pool is called deeper than this multiple of its balance."""


def find_price(direction: SolidlyDirection) -> float:
    """Return the marginal price after the fee, 0 for an empty pool."""
    reserve_in, reserve_out = direction.reserves
    if min(direction.reserves) == 0:
        return 0.0
    if not direction.stable:
        return (1.0 - direction.fee_pips / PIPS) * reserve_out / reserve_in
    x, y = (balance / WAD for balance in direction.balances)
    scale_in, scale_out = _float_scales(direction)
    return scale_in * scale_out * _slope(x, y)


def build_curve(direction: SolidlyDirection, gas: float) -> Curve:
    """Return the curve, with its least input a little below that of the exact quote."""
    kept = 1.0 - direction.fee_pips / PIPS
    spot, most = find_price(direction), float(direction.most)
    # A stable pool may round by a unit, in 18 decimals, in favour of the trader.
    unit = 1.0 - 1e-9 - min(1.0, direction.scales[1] / WAD) * direction.stable
    if spot == 0.0:
        return Curve(pieces=CLOSED_PIECES, x_min=1.0, x_max=0.0, gas=gas)
    least = max(1.0, kept / spot * unit)
    if not direction.stable:
        reserve_in, reserve_out = (float(reserve) for reserve in direction.reserves)
        pieces = np.array([[0.0, 0.0, kept * reserve_out, reserve_in, kept]])
        return Curve(pieces=pieces, x_min=least, x_max=most, gas=gas)
    x, y = (balance / WAD for balance in direction.balances)
    scale_in, scale_out = _float_scales(direction)
    depth = min(DEEPEST, _depth(x, y)) * x / scale_in
    params = [x, y, scale_in, scale_out]
    return Curve.of_shape(Shape.SOLIDLY, params, slope=spot, depth=depth, x_min=least, x_max=most, gas=gas)


def _float_scales(direction: SolidlyDirection) -> tuple[float, float]:
    scale_in, scale_out = direction.scales
    return (1.0 - direction.fee_pips / PIPS) / scale_in, float(scale_out)


def _slope(x: float, y: float) -> float:
    """Return -dy/dx where x**3 * y + y**3 * x is constant."""
    return y * (3.0 * x * x + y * y) / (x * (3.0 * y * y + x * x))


def _depth(x: float, y: float) -> float:
    """Return `Curve.of_shape`'s depth over the balance of the token sold: twice the slope over how fast it falls."""
    t = y / x
    by_x, by_y = t * (3.0 + t * t), 3.0 * t * t + 1.0
    second_derivative = 6.0 * (1.0 + t * t) * by_x * by_y - 6.0 * t * (by_y * by_y + by_x * by_x)
    return 2.0 * by_x * by_y * by_y / max(second_derivative, 1e-9 * by_y**3)
