"""Weighted pools whose powers are cut binomial series: Balancer v1."""

from __future__ import annotations

import math

from routing_engine.curves.shape import REFUSED
from routing_engine.jit.decorators import inner

BALANCE_IN, BALANCE_OUT, EXPONENT, KEPT = range(4)
"""Parameters: balances in smallest units, w_in / w_out, 1 - fee."""

LAST = 1e-10
"""The last term of a series is the first one below it."""


@inner
def series_out(params, start, x):
    """Output for input `x`, with the contract's number of terms."""
    charged = params[start + KEPT] * x
    share = charged / (params[start + BALANCE_IN] + charged)
    whole = math.floor(params[start + EXPONENT])
    rest = params[start + EXPONENT] - whole
    fallen = math.expm1(whole * math.log1p(-share))
    total, term, number = 0.0, 1.0, 0.0
    while rest > 0.0 and abs(term) >= LAST:
        term *= -share * (rest - number) / (number + 1.0)
        total += term
        number += 1.0
    return -params[start + BALANCE_OUT] * (fallen + total + fallen * total)


@inner
def series_in(params, start, y):
    """Least input for output `y`, or `REFUSED`."""
    balance_in, balance_out, exponent = (
        params[start + BALANCE_IN],
        params[start + BALANCE_OUT],
        params[start + EXPONENT],
    )
    if y >= balance_out:
        return REFUSED
    x = balance_in * math.expm1(-math.log1p(-y / balance_out) / exponent) / params[start + KEPT]
    for _ in range(2):
        # The exact power is off by the cut terms, about 1e-10: one or two steps along the slope undo that.
        slope = exponent * params[start + KEPT] * (balance_out - y) / (balance_in + params[start + KEPT] * x)
        x += (y - series_out(params, start, x)) / slope
    return x
