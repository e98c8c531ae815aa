"""From the integers of a StableSwap pool to the float64 curve of one of its directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from routing_engine.curves.curve import Curve
from routing_engine.curves.shape import Shape
from routing_engine.curves.stableswap import BALANCE_IN, BALANCE_OUT, EXCESS, PRODUCT, SCALE_IN, SCALE_OUT

TINY = 1e-300


def build_stable_params(
    balances: Sequence[int],
    index_in: int,
    index_out: int,
    invariant: int,
    amplification: tuple[int, int],
    scales: tuple[float, float],
) -> list[float]:
    """Return the parameters of `routing_engine.curves.kernels.stableswap` for one direction.

    Parameters
    ----------
    balances : sequence of int
        Of every coin, in the invariant's units: decimals and rates applied. All positive.
    index_in, index_out : int
        Coin sold, coin bought.
    invariant : int
        D, in the same units.
    amplification : tuple of int
        Numerator and denominator of A * n**n in the invariant as the whitepaper has it. A pool that stores A times
        n**(n - 1) times a precision (Curve's ``A_precise``, Balancer's ``amp``) has (stored * n, precision).
    scales : tuple of float
        Invariant units that one smallest unit of input adds, after a fee on the input; smallest units of output paid
        for one invariant unit, after a fee on the output.
    """
    raised, precision = amplification
    # Integers here: S and D have most digits in common in a balanced pool.
    excess = (sum(balances) - invariant) + invariant * precision / raised
    count, total = len(balances), float(invariant)
    product = total / count * (total * precision / raised)
    for index, balance in enumerate(balances):
        if index != index_out:
            product *= total / (count * balance)
    params = [0.0] * 6
    params[SCALE_IN], params[SCALE_OUT] = scales
    params[BALANCE_IN], params[BALANCE_OUT] = float(balances[index_in]), float(balances[index_out])
    params[EXCESS], params[PRODUCT] = excess, product
    return params


def marginal_price(params: Sequence[float]) -> float:
    """Return the price of the next unit, smallest units of output for each smallest unit of input, after fees."""
    return params[SCALE_IN] * params[SCALE_OUT] * _slope(params)


def build_stable_curve(params: list[float], **options: Any) -> Curve:
    """Return the curve with these parameters; `options` as in `Curve.of_shape`, other than slope and depth."""
    x, slope = params[BALANCE_IN], _slope(params)
    # Where slope * d - half_second * d**2 solves the quadratic up to d**2, with half the second derivative at zero.
    half_second = (slope * (1.0 - slope) + params[PRODUCT] / x / x) / (params[BALANCE_OUT] + params[EXCESS])
    depth = slope / max(half_second, TINY) / params[SCALE_IN]
    return Curve.of_shape(Shape.STABLE, params, slope=marginal_price(params), depth=depth, **options)


def _slope(params: Sequence[float]) -> float:
    y = params[BALANCE_OUT]
    return (y + params[PRODUCT] / params[BALANCE_IN]) / (y + params[EXCESS])
