"""The straight pieces of a linear pool's directions, and the integer formula of each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from routing_engine.amm.balancer.linear import (
    Reserves,
    Targets,
    main_for_share,
    main_for_wrapped,
    share_for_main,
    share_for_wrapped,
    to_nominal,
    wrapped_for_main,
    wrapped_for_share,
)
from routing_engine.fixed_point import WAD

MAIN, WRAPPED, SHARE = range(3)
"""Places of a pool's tokens and balances."""

FORMULAS = {
    (MAIN, WRAPPED): wrapped_for_main,
    (MAIN, SHARE): share_for_main,
    (WRAPPED, MAIN): main_for_wrapped,
    (WRAPPED, SHARE): share_for_wrapped,
    (SHARE, MAIN): main_for_share,
    (SHARE, WRAPPED): wrapped_for_share,
}


def build_linear_pieces(held: Reserves, targets: Targets, sold: int, bought: int) -> npt.NDArray[np.float64]:
    """Return rows of `Curve.pieces` for amounts of 18 decimals; the pool must have shares in circulation."""
    nominal = to_nominal(held.main, targets)
    share_price = (nominal + held.wrapped) / held.supply
    # Main tokens for a unit of input without fees, and units of output for a main token.
    value = share_price if sold == SHARE else 1.0
    price = 1.0 / share_price if bought == SHARE else 1.0
    steps = [(0.0, value * price)]
    fee = targets.fee_e18 / WAD
    if sold == MAIN:
        steps = _cut_zones(targets.lower - held.main, targets.upper - held.main, (1.0 + fee, 1.0, 1.0 - fee))
        steps = [(start, slope * price) for start, slope in steps]
    elif bought == MAIN:
        slopes = (1.0 / (1.0 - fee), 1.0, 1.0 / (1.0 + fee))
        steps = _cut_zones(nominal - targets.upper, nominal - targets.lower, slopes)
        steps = [(start / value, slope * value) for start, slope in steps]
    return _stack_rows(steps)


def _cut_zones(first: int, second: int, slopes: tuple[float, float, float]) -> list[tuple[float, float]]:
    """Return where each slope starts, for what is left of three zones that end at `first` and `second`."""
    zones = zip((0, first, second), (first, second, None), slopes, strict=True)
    return [(float(max(0, start)), slope) for start, end, slope in zones if end is None or end > 0]


def _stack_rows(steps: list[tuple[float, float]]) -> npt.NDArray[np.float64]:
    rows, y = [], 0.0
    for number, (start, slope) in enumerate(steps):
        if number:
            y += steps[number - 1][1] * (start - steps[number - 1][0])
        rows.append((start, y, slope, 1.0, 0.0))
    return np.array(rows)
