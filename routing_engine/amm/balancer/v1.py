"""The weighted product of Balancer v1: ``BNum`` and ``BMath`` of its pools.

Products and quotients are rounded half up. A power is an integer power times a binomial series that ends with the first
term below `PRECISION`, so that it errs by about 1e-10 of itself, upwards where a base is below one. Amounts and
balances are in smallest units whatever a token's decimals.
"""

from __future__ import annotations

from routing_engine.amm.balancer.log_exp import power as true_power
from routing_engine.fixed_point import WAD, div_up

PRECISION = WAD // 10**10
"""``BPOW_PRECISION``: the last term of a series is the first one below it."""

MIN_WEIGHT, MAX_WEIGHT = WAD, 50 * WAD
MIN_FEE, MAX_FEE = WAD // 10**6, WAD // 10


def multiply(a: int, b: int) -> int:
    """Return a * b with 18 decimals; equals ``BNum.bmul``."""
    return (a * b + WAD // 2) // WAD


def divide(a: int, b: int) -> int:
    """Return a / b with 18 decimals; equals ``BNum.bdiv``."""
    return (a * WAD + b // 2) // b


def power(base: int, exponent: int) -> int:
    """Return base ** exponent for a base below two; equals ``BNum.bpow``."""
    whole, rest = divmod(exponent, WAD)
    result = _whole_power(base, whole)
    return multiply(result, _series_power(base, rest)) if rest else result


def _whole_power(base: int, exponent: int) -> int:
    """Square and multiply, from the lowest bit; equals ``BNum.bpowi``."""
    result = base if exponent % 2 else WAD
    exponent //= 2
    while exponent:
        base = multiply(base, base)
        if exponent % 2:
            result = multiply(result, base)
        exponent //= 2
    return result


def _series_power(base: int, exponent: int) -> int:
    """Add up the terms of (1 + x) ** exponent; equals ``BNum.bpowApprox``."""
    x, falling = abs(base - WAD), base < WAD
    term = total = WAD
    negative, number = False, 0
    while term >= PRECISION:
        factor = exponent - number * WAD
        number += 1
        term = divide(multiply(term, multiply(abs(factor), x)), number * WAD)
        if term == 0:
            break
        negative ^= falling ^ (factor < 0)
        total += -term if negative else term
    return total


def max_amount_in(balance_in: int) -> int:
    """Return the largest input: half the balance, ``MAX_IN_RATIO``."""
    return multiply(balance_in, WAD // 2)


def out_given_in(
    balance_in: int, weight_in: int, balance_out: int, weight_out: int, amount_in: int, fee_e18: int
) -> int:
    """Return the output for an input; equals ``BMath.calcOutGivenIn``."""
    charged = multiply(amount_in, WAD - fee_e18)
    return out_at_base(divide(balance_in, balance_in + charged), divide(weight_in, weight_out), balance_out)


def out_at_base(base: int, exponent: int, balance_out: int) -> int:
    """Return the output when the balance of the coin sold grows by the factor 1 / `base`."""
    return multiply(balance_out, WAD - power(base, exponent))


def base_guess(exponent: int, balance_out: int, amount_out: int) -> int:
    """Return about the largest base, of those from a half on, at which `out_at_base` gives `amount_out`."""
    kept = WAD - divide(amount_out, balance_out)
    try:
        base = true_power(kept, WAD * WAD // exponent) if kept > 0 else 0
    except ValueError:
        base = 0
    if base < WAD // 2:
        return WAD // 2
    # One step of Newton's, as the pool's power errs by more than the guess.
    return base - (power(base, exponent) - kept) * base // (exponent * kept // WAD)


def input_at_base(balance_in: int, base: int, fee_e18: int) -> int:
    """Return the least input with which `out_given_in` works at this base or a smaller one."""
    after = 2 * balance_in * WAD // (2 * base + 1)
    while base * after + (after + 1) // 2 <= balance_in * WAD:
        after += 1
    return div_up((after - balance_in) * WAD - WAD // 2, WAD - fee_e18)


def spot_price(balance_in: int, weight_in: int, balance_out: int, weight_out: int, fee_e18: int) -> int:
    """Return the price of a unit of output, with 18 decimals and the fee; equals ``BMath.calcSpotPrice``."""
    ratio = divide(divide(balance_in, weight_in), divide(balance_out, weight_out))
    return multiply(ratio, divide(WAD, WAD - fee_e18))
