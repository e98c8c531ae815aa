"""Curves that are not chains of Möbius pieces: one formula each, chosen by number.

A new shape is a module beside this one with two functions, output and least input, of (params, start, amount), and a
line in each of the two functions here.
"""

from __future__ import annotations

from routing_engine.curves.kernels.cryptoswap import crypto_in, crypto_out
from routing_engine.curves.kernels.solidly import solidly_in, solidly_out
from routing_engine.curves.kernels.stableswap import stable_in, stable_out
from routing_engine.curves.kernels.stableswap_dynamic_fee import stable_fee_in, stable_fee_out
from routing_engine.curves.kernels.weighted import weighted_in, weighted_out
from routing_engine.curves.kernels.weighted_series import series_in, series_out
from routing_engine.curves.shape import REFUSED, Shape
from routing_engine.jit.decorators import kernel

WEIGHTED = int(Shape.WEIGHTED)
STABLE = int(Shape.STABLE)
STABLE_FEE = int(Shape.STABLE_FEE)
CRYPTO = int(Shape.CRYPTO)
SOLIDLY = int(Shape.SOLIDLY)
WEIGHTED_SERIES = int(Shape.WEIGHTED_SERIES)


@kernel
def shape_out(shape, params, start, x):
    """Output of a curve whose parameters begin at `params[start]`, for input `x` within its limits."""
    if shape == WEIGHTED:
        return weighted_out(params, start, x)
    if shape == STABLE:
        return stable_out(params, start, x)
    if shape == STABLE_FEE:
        return stable_fee_out(params, start, x)
    if shape == SOLIDLY:
        return solidly_out(params, start, x)
    if shape == WEIGHTED_SERIES:
        return series_out(params, start, x)
    if shape == CRYPTO:
        return crypto_out(params, start, x)
    return REFUSED


@kernel
def shape_in(shape, params, start, y):
    """Least input of such a curve for output `y`, or `REFUSED` where no input gives as much."""
    if shape == WEIGHTED:
        return weighted_in(params, start, y)
    if shape == STABLE:
        return stable_in(params, start, y)
    if shape == STABLE_FEE:
        return stable_fee_in(params, start, y)
    if shape == SOLIDLY:
        return solidly_in(params, start, y)
    if shape == WEIGHTED_SERIES:
        return series_in(params, start, y)
    if shape == CRYPTO:
        return crypto_in(params, start, y)
    return REFUSED
