"""Crypto pools pass the suite, near balance and far from it, whether they move their prices or not."""

from __future__ import annotations

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from tests.support.cryptoswap import cryptoswap_pools
from tests.support.tolerances import tolerances


@given(pool=cryptoswap_pools(), seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None, derandomize=True, phases=(Phase.generate,))
def test_cryptoswap_pools_conform(pool, seed):
    check_market(pool, seed=seed, samples=3, **tolerances(pool))
