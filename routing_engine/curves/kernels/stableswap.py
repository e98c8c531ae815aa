"""StableSwap pools, solved without iteration.

With every other balance fixed, the invariant of n coins joins the balance x of the coin sold and the balance y of the
coin bought by x * y * (x + y + u) = c, a quadratic equation in either. It is solved for the change of the balance, not
for the balance, so that an amount far smaller than the pool keeps its digits.
"""

from __future__ import annotations

import math

from routing_engine.curves.shape import REFUSED
from routing_engine.curves.stableswap import BALANCE_IN, BALANCE_OUT, EXCESS, PRODUCT, SCALE_IN, SCALE_OUT
from routing_engine.jit.decorators import inner, kernel


@inner
def invariant_out(params, start, added):
    """Return what leaves the balance of the coin bought when `added` comes to that of the coin sold."""
    x, y, excess = params[start + BALANCE_IN], params[start + BALANCE_OUT], params[start + EXCESS]
    product = params[start + PRODUCT]
    linear = y + excess + added
    constant = added * (y + product / (x + added))
    removed = 2.0 * constant / (linear + math.sqrt(max(0.0, linear * linear - 4.0 * constant)))
    if removed < 0.5 * y:
        return removed
    # Here the discriminant has lost digits; what remains in the pool is small and has them all.
    linear = excess - y + added
    constant = product * x / (x + added)
    root = math.sqrt(linear * linear + 4.0 * constant)
    return y - (2.0 * constant / (linear + root) if linear > 0.0 else 0.5 * (root - linear))


@kernel
def invariant_in(params, start, removed):
    """Return what the balance of the coin sold must gain for `removed`, less than all, to leave the other."""
    x, y = params[start + BALANCE_IN], params[start + BALANCE_OUT]
    linear = x + params[start + EXCESS] - removed
    constant = removed * (x + params[start + PRODUCT] * (x / y) / (y - removed))
    root = math.sqrt(linear * linear + 4.0 * constant)
    return 2.0 * constant / (linear + root) if linear > 0.0 else 0.5 * (root - linear)


@inner
def stable_out(params, start, x):
    """Output for input `x`."""
    return params[start + SCALE_OUT] * invariant_out(params, start, params[start + SCALE_IN] * x)


@inner
def stable_in(params, start, y):
    """Least input for output `y`, or `REFUSED`."""
    removed = y / params[start + SCALE_OUT]
    if removed >= params[start + BALANCE_OUT]:
        return REFUSED
    return invariant_in(params, start, removed) / params[start + SCALE_IN]
