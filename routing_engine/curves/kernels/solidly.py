"""Solidly's stable pools, x**3 * y + y**3 * x = k, solved for the change of a balance.

The equation for what leaves one balance when the other grows has no term that cancels, so amounts far smaller than the
pool keep their digits. Newton's method approaches its only root from one side: from below for the output, as that side
is concave, and from above for the input.
"""

from __future__ import annotations

from routing_engine.curves.shape import REFUSED
from routing_engine.jit.decorators import inner

BALANCE_IN, BALANCE_OUT, SCALE_IN, SCALE_OUT = range(4)
"""Parameters: both balances in whole tokens; whole tokens that one smallest unit of input adds, after the fee; smallest
units of output in a whole token."""

MOST_STEPS = 100
TINY_STEP = 1e-15


@inner
def removed(x, y, added):
    """Return what leaves balance `y` when `added` comes to balance `x`."""
    grown = x + added
    cubed = grown * grown * grown
    pushed = added * (y * (3.0 * x * (x + added) + added * added) + y * y * y)
    out = 0.0
    for _ in range(MOST_STEPS):
        rest = y - out
        missing = pushed - out * (cubed + grown * (3.0 * y * rest + out * out))
        step = missing / (cubed + 3.0 * grown * rest * rest)
        out += step
        if step <= TINY_STEP * out:
            break
    return out


@inner
def added_for(x, y, out):
    """Return what balance `x` must gain for `out`, less than `y`, to leave the other."""
    rest = y - out
    pulled = out * (x * x * x + x * (3.0 * y * rest + out * out))
    gain = min(pulled / (3.0 * x * x * rest + rest * rest * rest), (pulled / rest) ** (1.0 / 3.0))
    for _ in range(MOST_STEPS):
        grown = x + gain
        excess = gain * (rest * (3.0 * x * grown + gain * gain) + rest * rest * rest) - pulled
        step = excess / (3.0 * rest * grown * grown + rest * rest * rest)
        gain -= step
        if step <= TINY_STEP * gain:
            break
    return gain


@inner
def solidly_out(params, start, x):
    """Output for input `x`."""
    out = removed(params[start + BALANCE_IN], params[start + BALANCE_OUT], params[start + SCALE_IN] * x)
    return out * params[start + SCALE_OUT]


@inner
def solidly_in(params, start, y):
    """Least input for output `y`, or `REFUSED`."""
    out = y / params[start + SCALE_OUT]
    if out >= params[start + BALANCE_OUT]:
        return REFUSED
    return added_for(params[start + BALANCE_IN], params[start + BALANCE_OUT], out) / params[start + SCALE_IN]
