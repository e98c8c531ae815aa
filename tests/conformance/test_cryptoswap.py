"""Crypto pools pass the suite, near balance and far from it, whether they move their prices or not."""

from __future__ import annotations

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from routing_engine.amm.stableswap import FEE_SCALE
from tests.support.cryptoswap import cryptoswap_pools

ROUNDING_UNITS = 64
"""The closed form is rounded to a few units, the more of them the larger the pool."""

FEE_STEPS = 4e-10


@given(pool=cryptoswap_pools(), seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None, derandomize=True, phases=(Phase.generate,))
def test_cryptoswap_pools_conform(pool, seed):
    check_market(
        pool,
        seed=seed,
        samples=3,
        rounding_units=ROUNDING_UNITS,
        split_gain=pool.out_fee / FEE_SCALE,
        split_units=ROUNDING_UNITS,
        dip=FEE_STEPS,
    )
