"""The parameters of crypto pools, and those of their formulas that markets compute."""

from __future__ import annotations

from routing_engine.curves.formulas import Formula

(
    STABLE_MATH,
    SCALE_IN,
    SCALE_OUT,
    BALANCE_IN,
    BALANCE_OUT,
    BALANCE_THIRD,
    AMPLIFICATION,
    GAMMA,
    OFFSET,
    MID_FEE,
    OUT_FEE,
    FEE_GAMMA,
    GAP,
    EXCESS,
    SLOPE,
    LIMIT,
) = range(16)
"""Parameters; balances are in units of D, the third is 0 in pools of two coins.

`SCALE_IN` is the part of D that one smallest unit of input adds, `SCALE_OUT` the smallest units of output for all of D.
`BALANCE_OUT` is the balance that goes with the others and D; the actual one is larger by `OFFSET`, as D is rounded.
`GAP` is g + 1 - K0 and `EXCESS` is S - 1: both may be tiny, and lose their digits when computed from the balances.
`SLOPE` is what leaves that balance for a vanishing input, `LIMIT` the most that may leave it.
"""

added_for = Formula("cryptoswap", "added_for")
crypto_in = Formula("cryptoswap", "crypto_in")
crypto_out = Formula("cryptoswap", "crypto_out")
imbalance = Formula("cryptoswap", "imbalance")
kept_share = Formula("cryptoswap", "kept_share")
removed_for = Formula("cryptoswap", "removed_for")
