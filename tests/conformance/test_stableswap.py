"""StableSwap pools of every generation pass the suite, near balance and far from it."""

from __future__ import annotations

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from routing_engine.amm.stableswap import FEE_SCALE
from tests.support.stableswap import greatest_fee, stableswap_pools

FEE_STEPS = 4e-10
"""A fee that depends on the amount is counted in 1e-10, and so is the balance it depends on."""

ROUNDING_UNITS = 16
"""D is rounded at every step of its iteration, and some contracts add one to each divisor on the way."""


@given(pool=stableswap_pools(), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None, derandomize=True, phases=(Phase.generate,))
def test_stableswap_pools_conform(pool, seed):
    dip = FEE_STEPS if pool.multiplier_e10 > FEE_SCALE else 0.0
    check_market(
        pool,
        seed=seed,
        samples=5,
        rounding_units=ROUNDING_UNITS,
        split_gain=greatest_fee(pool),
        split_units=ROUNDING_UNITS,
        dip=dip,
    )
