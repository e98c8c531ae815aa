"""One step of a concentrated swap, between two prices at constant liquidity: ``SwapMath`` of Uniswap v3 and v4."""

from __future__ import annotations

from typing import TypeAlias

from routing_engine.amm.concentrated.sqrt_price_math import (
    amount0_delta,
    amount1_delta,
    amounts_falling,
    amounts_rising,
    price_after_amount0_in,
    price_after_amount0_out,
    price_after_amount1_in,
    price_after_amount1_out,
)
from routing_engine.amm.integer_search import least_input
from routing_engine.fixed_point import PIPS

Step: TypeAlias = tuple[int, int, int, int]
"""Price afterwards, amount in without the fee, amount out, fee."""

ENDLESS = 1 << 300
"""More than any step takes, fee included."""


def swap_fee(protocol_fee_pips: int, lp_fee_pips: int) -> int:
    """Return the fee when the protocol takes its share of the input first, and liquidity providers theirs of the rest.

    Equals ``ProtocolFeeLibrary.calculateSwapFee`` of Uniswap v4: rounded up to a pip.
    """
    return protocol_fee_pips + lp_fee_pips - protocol_fee_pips * lp_fee_pips // PIPS


def step_exact_in(price: int, target: int, liquidity: int, remaining: int, fee_pips: int) -> Step:
    """Spend up to `remaining` on the way from `price` to `target`.

    Equals ``SwapMath.computeSwapStep`` with a positive amount. The direction is that of the target.
    """
    kept = PIPS - fee_pips
    spendable = remaining * kept // PIPS
    if price >= target:
        amount_in, amount_out = amounts_falling(target, price, liquidity)
        if spendable < amount_in:
            reached = price_after_amount0_in(price, liquidity, spendable)
            amount_in, amount_out = amounts_falling(reached, price, liquidity)
            return reached, amount_in, amount_out, remaining - amount_in
    else:
        amount_in, amount_out = amounts_rising(price, target, liquidity)
        if spendable < amount_in:
            reached = price_after_amount1_in(price, liquidity, spendable)
            amount_in, amount_out = amounts_rising(price, reached, liquidity)
            return reached, amount_in, amount_out, remaining - amount_in
    return target, amount_in, amount_out, -(-amount_in * fee_pips // kept)


def step_exact_out(price: int, target: int, liquidity: int, remaining: int, fee_pips: int) -> Step:
    """Buy up to `remaining` on the way from `price` to `target`.

    Equals ``SwapMath.computeSwapStep`` with a negative amount, and never gives more than `remaining`.
    """
    if price >= target:
        amount_out = amount1_delta(target, price, liquidity)
        reached = target if remaining >= amount_out else price_after_amount1_out(price, liquidity, remaining)
        amount_in, amount_out = amounts_falling(reached, price, liquidity)
    else:
        amount_out = amount0_delta(price, target, liquidity)
        reached = target if remaining >= amount_out else price_after_amount0_out(price, liquidity, remaining)
        amount_in, amount_out = amounts_rising(price, reached, liquidity)
    return reached, amount_in, min(amount_out, remaining), -(-amount_in * fee_pips // (PIPS - fee_pips))


def least_step_input(price: int, target: int, liquidity: int, amount_out: int, most: int, fee_pips: int) -> int:
    """Return the least input, fee included, that buys `amount_out` on the way from `price` to `target`.

    The rounded formulas are solved for the input; where the contract takes its coarser one, a search goes on from it.

    Parameters
    ----------
    price, target, liquidity, fee_pips : int
        As `step_exact_in` says.
    amount_out : int
        Positive, and at most what the whole way gives.
    most : int
        Input of the whole way.
    """
    scaled = liquidity << 96
    if price >= target:
        lowest = price - -(-(amount_out << 96) // liquidity)
        amount_in = -(-scaled * (price - lowest) // (lowest * price))
    else:
        highest = -(-scaled * price // (scaled - amount_out * price))
        amount_in = -(-liquidity * (highest - price) >> 96)
    guess = -(-amount_in * PIPS // (PIPS - fee_pips))
    least = least_input(lambda x: step_exact_in(price, target, liquidity, x, fee_pips)[2], amount_out, guess, most)
    return most if least is None else least
