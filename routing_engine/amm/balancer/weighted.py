"""The weighted product of Balancer v2: the product of balance ** weight never falls.

Balances and amounts have 18 decimals here, weights and ratios too. Inputs are after the fee, except in
`amount_after_fee` and `amount_before_fee`. Powers are rounded against the trader by more than their error can be.
"""

from __future__ import annotations

from routing_engine.amm.balancer.log_exp import power
from routing_engine.fixed_point import WAD, div_up, mul_div, mul_div_up

MAX_RATIO = 3 * WAD // 10
"""``_MAX_IN_RATIO`` and ``_MAX_OUT_RATIO``: at most this share of a balance may come in or go out at once."""

MAX_RELATIVE_ERROR = 10_000
"""``MAX_POW_RELATIVE_ERROR``, in 1e-18: what the power function may err, charged to the trader."""

MIN_WEIGHT = WAD // 100

MULTIPLIED = (WAD, 2 * WAD, 4 * WAD)
"""Exponents that later versions of the library multiply out, without a margin for errors."""


def power_up(base: int, exponent: int, *, multiplies: bool) -> int:
    """Return base ** exponent, not below the true value.

    Equals ``FixedPoint.powUp``: with `multiplies` the version that multiplies out the exponents 1, 2 and 4, which pools
    have from the second weighted factory (2022-09) on; without it the first version.
    """
    if multiplies and exponent in MULTIPLIED:
        if exponent == WAD:
            return base
        square = mul_div_up(base, base, WAD)
        return square if exponent == 2 * WAD else mul_div_up(square, square, WAD)
    raw = power(base, exponent)
    return raw + mul_div_up(raw, MAX_RELATIVE_ERROR, WAD) + 1


def out_given_in(balance_in: int, exponent: int, balance_out: int, amount_in: int, *, multiplies: bool) -> int:
    """Return the output for an input; `exponent` is weight in over weight out, rounded down.

    Equals ``WeightedMath._calcOutGivenIn``, without its check of the ratio.
    """
    base = mul_div_up(balance_in, WAD, balance_in + amount_in)
    return out_at_base(base, exponent, balance_out, multiplies=multiplies)


def out_at_base(base: int, exponent: int, balance_out: int, *, multiplies: bool) -> int:
    """Return the output when the balance of the coin sold grows by the factor 1 / `base`, rounded up."""
    kept = power_up(base, exponent, multiplies=multiplies)
    return mul_div(balance_out, WAD - kept, WAD) if kept < WAD else 0


def in_given_out(balance_in: int, exponent: int, balance_out: int, amount_out: int, *, multiplies: bool) -> int:
    """Return the input asked for an output; `exponent` is weight out over weight in, rounded up.

    Equals ``WeightedMath._calcInGivenOut``, without its check of the ratio.
    """
    base = mul_div_up(balance_out, WAD, balance_out - amount_out)
    return mul_div_up(balance_in, power_up(base, exponent, multiplies=multiplies) - WAD, WAD)


def input_at_base(balance_in: int, base: int) -> int:
    """Return the least input with which `out_given_in` works at this base or a smaller one."""
    return div_up(balance_in * WAD, base) - balance_in


def amount_after_fee(amount: int, fee_e18: int) -> int:
    """Return what remains of an input, the fee rounded up: ``BasePool._subtractSwapFeeAmount``."""
    return amount - mul_div_up(amount, fee_e18, WAD)


def amount_before_fee(amount: int, fee_e18: int) -> int:
    """Return the least input of which `amount` remains; equals ``BasePool._addSwapFeeAmount``."""
    return div_up(amount * WAD, WAD - fee_e18)


def base_guess(exponent: int, balance_out: int, amount_out: int, *, multiplies: bool) -> int:
    """Return about the largest base at which `out_at_base` gives `amount_out`, which is less than the balance."""
    kept = WAD - div_up(amount_out * WAD, balance_out)
    if not (multiplies and exponent in MULTIPLIED):
        kept = kept * WAD // (WAD + MAX_RELATIVE_ERROR) - 1
    try:
        return power(max(kept, 0), WAD * WAD // exponent)
    except ValueError:
        return 0
