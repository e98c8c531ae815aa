"""Weighted pools: y = B_out * (1 - (1 + margin) * (B_in / (B_in + kept * x)) ** (w_in / w_out))."""

from __future__ import annotations

import math

from routing_engine.curves.shape import REFUSED
from routing_engine.jit.decorators import inner

BALANCE_IN, BALANCE_OUT, EXPONENT, KEPT, MARGIN = range(5)
"""Parameters: balances in smallest units, w_in / w_out, 1 - fee, and what a contract adds to its power, as a share."""

RESOLUTION = 1e-18
"""A payout is at least this share of the balance, where the contract counts powers with 18 decimals."""


@inner
def weighted_out(params, start, x):
    """Output for input `x`; log1p and expm1 keep small amounts exact."""
    balance_out, margin = params[start + BALANCE_OUT], params[start + MARGIN]
    grown = math.log1p(params[start + KEPT] * x / params[start + BALANCE_IN])
    paid = -((1.0 + margin) * math.expm1(-params[start + EXPONENT] * grown) + margin)
    return balance_out * max(paid, RESOLUTION)


@inner
def weighted_in(params, start, y):
    """Least input for output `y`, or `REFUSED`."""
    if y >= params[start + BALANCE_OUT]:
        return REFUSED
    kept = math.log1p(-y / params[start + BALANCE_OUT]) - math.log1p(params[start + MARGIN])
    return params[start + BALANCE_IN] * math.expm1(-kept / params[start + EXPONENT]) / params[start + KEPT]
