"""The constant-product invariant x * y = k with a fee on the input (Uniswap v2 and its forks).

A pair of reserves (x, y) accepts an input d and pays out e as long as ``(x + d * (1 - fee)) * (y - e) >= x * y``.
Fees are in pips; a fork that counts in 1/1000 or 1/10000 gives the same integers, as numerator and denominator only
carry a common factor.
"""

from __future__ import annotations

from routing_engine.fixed_point import PIPS, div_up

MAX_RESERVE = 2**112 - 1
"""A pair stores its reserves as uint112 and reverts beyond."""


def get_amount_out(amount_in: int, reserve_in: int, reserve_out: int, fee_pips: int) -> int:
    """Return the largest output that the invariant allows for `amount_in`.

    Equals ``UniswapV2Library.getAmountOut``.
    """
    charged = amount_in * (PIPS - fee_pips)
    return charged * reserve_out // (reserve_in * PIPS + charged)


def get_amount_in(amount_out: int, reserve_in: int, reserve_out: int, fee_pips: int) -> int:
    """Return the least input whose `get_amount_out` is at least `amount_out`.

    Requires ``amount_out < reserve_out``. Often one unit below `library_amount_in`, and the pair accepts it.
    """
    return div_up(reserve_in * amount_out * PIPS, (reserve_out - amount_out) * (PIPS - fee_pips))


def library_amount_in(amount_out: int, reserve_in: int, reserve_out: int, fee_pips: int) -> int:
    """Return the input that ``UniswapV2Library.getAmountIn`` asks for: the floor plus one, exact or not.

    Requires ``amount_out < reserve_out``.
    """
    return reserve_in * amount_out * PIPS // ((reserve_out - amount_out) * (PIPS - fee_pips)) + 1


def holds_invariant(amount_in: int, amount_out: int, reserve_in: int, reserve_out: int, fee_pips: int) -> bool:
    """Tell whether the pair would accept this swap: the ``K`` check of ``UniswapV2Pair.swap``."""
    adjusted_in = (reserve_in + amount_in) * PIPS - amount_in * fee_pips
    return adjusted_in * (reserve_out - amount_out) >= reserve_in * reserve_out * PIPS
