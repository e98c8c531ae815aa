"""StableSwap's parameters, and those of its formulas that markets compute."""

from __future__ import annotations

from routing_engine.curves.formulas import Formula

SCALE_IN, SCALE_OUT, BALANCE_IN, BALANCE_OUT, EXCESS, PRODUCT = range(6)
"""Parameters; balances are in the invariant's own units, with decimals and rates applied.

`SCALE_IN` is what one smallest unit of input adds to its balance, after a fee on the input; `SCALE_OUT` the smallest
units of output paid for each unit that leaves its balance, after a fee on the output. `EXCESS` is the sum of all
balances less D, plus D / (A * n**n); `PRODUCT` is the value of y * (x + y + u) at the present balances.
`routing_engine.markets.stableswap.float_curve` derives them.
"""

FEE, MULTIPLIER, LIMIT = 6, 7, 8
"""Parameters after those, where the fee grows away from balance; the scales leave the fee out.

`FEE` is f and `MULTIPLIER` is m, as fractions; `LIMIT` what `growing_limit` gives: the most that may leave the balance.
"""

invariant_in = Formula("stableswap", "invariant_in")
growing_limit = Formula("stableswap_dynamic_fee", "growing_limit")
kept_share = Formula("stableswap_dynamic_fee", "kept_share")
output_growth = Formula("stableswap_dynamic_fee", "output_growth")
stable_fee_in = Formula("stableswap_dynamic_fee", "stable_fee_in")
