"""Curve's crypto pools, solved for the change of a balance.

In units of D, with P the product and S the sum of the balances, K0 = n**n * P and k = A * (g / (g + 1 - K0))**2, where
A stands for the contract's A * n**n, the invariant is K0 * (k * (S - 1) + 1) = 1; for pools with StableSwap's
mathematics it is K0 * (A * (S - 1) + 1) = 1. Written as the change of the logarithm between two states it keeps the
digits of amounts far smaller than the pool. It is solved by Newton's method within a bracket.
"""

from __future__ import annotations

import math

from routing_engine.curves.cryptoswap import (
    AMPLIFICATION,
    BALANCE_IN,
    BALANCE_OUT,
    BALANCE_THIRD,
    EXCESS,
    FEE_GAMMA,
    GAMMA,
    GAP,
    LIMIT,
    MID_FEE,
    OFFSET,
    OUT_FEE,
    SCALE_IN,
    SCALE_OUT,
    SLOPE,
    STABLE_MATH,
)
from routing_engine.curves.shape import REFUSED
from routing_engine.jit.decorators import kernel

ROUNDS = 60
CLOSE = 1e-15


@kernel
def imbalance(params, start, added, removed):
    """Return by how much the invariant's sides differ in a new state, and the slopes of that.

    The difference is that of logarithms: minus infinity where the left side is negative, as far too little was added.
    """
    x, y, z = params[start + BALANCE_IN], params[start + BALANCE_OUT], params[start + BALANCE_THIRD]
    change = math.log1p(added / x) + math.log1p(-removed / y)
    by_added, by_removed = 1.0 / (x + added), -1.0 / (y - removed)
    product = 27.0 * x * y * z if z > 0.0 else 4.0 * x * y
    a = params[start + AMPLIFICATION]
    if params[start + STABLE_MATH] > 0.0:
        moved, weight = a * product * (added - removed), a * product
        if moved > -0.5:
            weight /= 1.0 + moved
            return change + math.log1p(moved), by_added + weight, by_removed - weight
        level = math.exp(-change)
        return moved - math.expm1(-change), level * by_added + weight, level * by_removed - weight
    gap = params[start + GAP]
    ratio = gap / (gap - product * math.expm1(change))
    growth = 2.0 * ratio * ratio * ratio * product * math.exp(change) / gap
    factor = a * (params[start + GAMMA] / gap) ** 2
    excess = params[start + EXCESS]
    level = factor * excess + 1.0
    raised = (ratio - 1.0) * (ratio + 1.0)
    after = excess + added - removed
    inner = factor * (raised * after + added - removed) / level
    if inner <= -1.0:
        return -math.inf, by_added, by_removed
    weight = factor / level / (1.0 + inner)
    slope_added = by_added + weight * (growth * by_added * after + raised + 1.0)
    slope_removed = by_removed + weight * (growth * by_removed * after - raised - 1.0)
    return change + math.log1p(inner), slope_added, slope_removed


@kernel
def removed_for(params, start, added):
    """Return what leaves the output's balance when `added` comes to the input's."""
    low, high = 0.0, min(params[start + SLOPE] * added * 1.000001, params[start + BALANCE_OUT] * (1.0 - 1e-12))
    removed = high
    for _ in range(ROUNDS):
        value, _, slope = imbalance(params, start, added, removed)
        if value > 0.0:
            low = removed
        else:
            high = removed
        step = removed - value / slope
        if not low < step < high:
            step = 0.5 * (low + high)
        if abs(step - removed) <= CLOSE * removed:
            return step
        removed = step
    return removed


@kernel
def added_for(params, start, removed):
    """Return what the input's balance must gain for `removed` to leave the output's."""
    low, high = removed / (params[start + SLOPE] * 1.000001), math.inf
    added = low
    for _ in range(ROUNDS):
        value, slope, _ = imbalance(params, start, added, removed)
        if value < 0.0:
            low = added
        else:
            high = added
        step = added - value / slope
        if not low < step < high:
            step = 2.0 * added if high == math.inf else 0.5 * (low + high)
        if abs(step - added) <= CLOSE * added:
            return step
        added = step
    return added


@kernel
def kept_share(params, start, added, removed):
    """Return what remains of the output after the fee."""
    x, y = params[start + BALANCE_IN] + added, params[start + BALANCE_OUT] - removed
    z = params[start + BALANCE_THIRD]
    total = x + y + z
    balance = 27.0 * (x / total) * (y / total) * (z / total) if z > 0.0 else 4.0 * (x / total) * (y / total)
    gamma = params[start + FEE_GAMMA]
    if gamma > 0.0:
        balance = gamma / (gamma + 1.0 - balance)
    return 1.0 - params[start + MID_FEE] * balance - params[start + OUT_FEE] * (1.0 - balance)


@kernel
def crypto_out(params, start, x):
    """Output for input `x`."""
    added = params[start + SCALE_IN] * x
    removed = removed_for(params, start, added)
    paid = max(0.0, removed + params[start + OFFSET])
    return params[start + SCALE_OUT] * paid * kept_share(params, start, added, removed)


@kernel
def crypto_in(params, start, y):
    """Least input for output `y`, or `REFUSED`."""
    paid = y / params[start + SCALE_OUT]
    removed, added = paid, 0.0
    for _ in range(ROUNDS):
        if removed > params[start + LIMIT] * (1.0 + 1e-9):
            return REFUSED
        added = added_for(params, start, removed) if removed > 0.0 else 0.0
        wanted = paid / kept_share(params, start, added, removed) - params[start + OFFSET]
        if abs(wanted - removed) <= CLOSE * removed:
            break
        removed = wanted
    return added / params[start + SCALE_IN]
