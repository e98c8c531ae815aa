"""StableSwap pools whose fee grows away from balance.

The curve is that of `routing_engine.curves.kernels.stableswap`, less the fee.

With m the multiplier and f the fee at balance, a swap whose average balances are u and v pays m * f / ((m - 1) * b + 1)
of what it takes out, where b = 4 * u * v / (u + v)**2 (Curve's NG). Far from balance that can grow faster than the
output, so that more input buys less: `growing_limit` finds where that begins.
"""

from __future__ import annotations

import math

from routing_engine.curves.kernels.stableswap import invariant_in, invariant_out
from routing_engine.curves.shape import REFUSED
from routing_engine.curves.stableswap import (
    BALANCE_IN,
    BALANCE_OUT,
    EXCESS,
    FEE,
    LIMIT,
    MULTIPLIER,
    SCALE_IN,
    SCALE_OUT,
)
from routing_engine.jit.decorators import inner, kernel

HALVINGS = 60
GRID = 64


@kernel
def kept_share(params, start, added, removed):
    """Return what remains of the output after the fee, for these changes of the two balances."""
    u, v = params[start + BALANCE_IN] + 0.5 * added, params[start + BALANCE_OUT] - 0.5 * removed
    m = params[start + MULTIPLIER]
    balance = 4.0 * (u / (u + v)) * (v / (u + v))
    return 1.0 - m * params[start + FEE] / ((m - 1.0) * balance + 1.0)


@inner
def stable_fee_out(params, start, x):
    """Output for input `x`."""
    added = params[start + SCALE_IN] * x
    removed = invariant_out(params, start, added)
    return params[start + SCALE_OUT] * removed * kept_share(params, start, added, removed)


@kernel
def stable_fee_in(params, start, y):
    """Least input for output `y`, or `REFUSED`."""
    paid, limit = y / params[start + SCALE_OUT], params[start + LIMIT]
    low = paid / (1.0 - params[start + FEE])
    high = min(paid / (1.0 - params[start + MULTIPLIER] * params[start + FEE]), limit)
    if low >= limit or _sold(params, start, limit) < paid:
        return REFUSED
    for _ in range(HALVINGS):
        removed = 0.5 * (low + high)
        if not low < removed < high:
            break
        if _sold(params, start, removed) < paid:
            low = removed
        else:
            high = removed
    return invariant_in(params, start, high) / params[start + SCALE_IN]


@inner
def _sold(params, start, removed):
    """Return what is paid out when `removed` leaves the balance; endless where that is all of it."""
    if removed >= params[start + BALANCE_OUT]:
        return math.inf
    return removed * kept_share(params, start, invariant_in(params, start, removed), removed)


@kernel
def growing_limit(params, start, floor):
    """Return what may leave the balance while more input buys more and `floor` of it remains; 0 if it is below that."""
    y = params[start + BALANCE_OUT]
    if floor >= y:
        return 0.0
    low, high = 0.0, y - floor
    for step in range(1, 2 * GRID + 1):
        # First even steps over the balance, then ever closer to its end.
        removed = y * step / (2.0 * GRID) if step < GRID else y * (1.0 - 0.5 ** (step - GRID + 1))
        if removed >= high or output_growth(params, start, removed)[0] <= 0.0:
            high = min(high, removed)
            break
        low = removed
    if output_growth(params, start, high)[0] > 0.0:
        return high
    for _ in range(HALVINGS):
        removed = 0.5 * (low + high)
        if output_growth(params, start, removed)[0] > 0.0:
            low = removed
        else:
            high = removed
    return low


@kernel
def output_growth(params, start, removed):
    """Return what the next unit after `removed` adds to the output, and what input it takes."""
    if removed >= params[start + BALANCE_OUT]:
        return 0.0, 0.0
    added = invariant_in(params, start, removed)
    x, y = params[start + BALANCE_IN] + added, params[start + BALANCE_OUT] - removed
    total = params[start + EXCESS] + added - removed
    needed = (x / y) * ((total + y) / (total + x))
    u, v = params[start + BALANCE_IN] + 0.5 * added, params[start + BALANCE_OUT] - 0.5 * removed
    m = params[start + MULTIPLIER]
    spread = (m - 1.0) * 4.0 * (u / (u + v)) * (v / (u + v)) + 1.0
    fee = m * params[start + FEE] / spread
    drift = 2.0 * ((v - u) / (u + v)) * ((needed * v + u) / (u + v)) / (u + v)
    return 1.0 - fee + removed * fee * (m - 1.0) * drift / spread, needed
