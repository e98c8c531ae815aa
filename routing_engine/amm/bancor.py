"""Bancor v2.1: a constant product of BNT and one other token, with the fee on the output.

Reproduces ``StandardPoolConverter.targetAmountAndFee``. A trade of two other tokens passes through BNT as two such
conversions, each with its own fee: ``BancorNetwork.rateByPath``.
"""

from __future__ import annotations

from routing_engine.fixed_point import PIPS, div_up

MAX_RESERVE = 2**128 - 1
"""Both reserves share one storage word."""


def get_amount_out(amount_in: int, reserve_in: int, reserve_out: int, fee_pips: int) -> tuple[int, int]:
    """Return output and fee, both in the token bought: ``crossReserveTargetAmount`` less ``calculateFee``."""
    target = reserve_out * amount_in // (reserve_in + amount_in)
    fee = target * fee_pips // PIPS
    return target - fee, fee


def get_amount_in(amount_out: int, reserve_in: int, reserve_out: int, fee_pips: int) -> int | None:
    """Return the least input that buys `amount_out` (positive), or None where none does."""
    # What is left of a target t after a fee rounded down is ceil(t * (1 - fee)).
    target = (amount_out - 1) * PIPS // (PIPS - fee_pips) + 1
    return div_up(target * reserve_in, reserve_out - target) if target < reserve_out else None
