"""The float64 shape of one direction of a StableSwap pool."""

from __future__ import annotations

from dataclasses import replace

from routing_engine.curves.curve import A, Curve
from routing_engine.curves.shape import Shape
from routing_engine.curves.stableswap import FEE, SCALE_OUT, kept_share
from routing_engine.markets.stableswap.direction import StableDirection
from routing_engine.markets.stableswap.float_curve import build_stable_curve, marginal_price


def find_price(direction: StableDirection) -> float:
    """Return the marginal price after the fee, smallest units."""
    return float(marginal_price(direction.params.tolist()) * kept_share(direction.params, 0, 0.0, 0.0))


def build_curve(direction: StableDirection, gas: float) -> Curve:
    """Return the curve from one unit of input to the direction's largest input.

    A fee that grows away from balance shrinks towards it, so that the marginal price may rise: such a curve is not
    concave.
    """
    params = direction.params.tolist()
    fee_grows = direction.fee_grows
    bare = params[:FEE]
    if not fee_grows:
        bare[SCALE_OUT] *= 1.0 - params[FEE]
    curve = build_stable_curve(bare, x_min=1.0, x_max=float(direction.most), gas=gas, concave=not fee_grows)
    if not fee_grows:
        return curve
    pieces = curve.pieces.copy()
    pieces[:, A] *= kept_share(direction.params, 0, 0.0, 0.0)
    ceiling = marginal_price(params) * (1.0 - params[FEE])
    return replace(curve, shape=Shape.STABLE_FEE, params=direction.params, pieces=pieces, ceiling=ceiling)
