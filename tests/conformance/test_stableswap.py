"""StableSwap pools of every generation pass the suite, near balance and far from it."""

from __future__ import annotations

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from tests.support.stableswap import stableswap_pools
from tests.support.tolerances import tolerances


@given(pool=stableswap_pools(), seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None, derandomize=True, phases=(Phase.generate,))
def test_stableswap_pools_conform(pool, seed):
    check_market(pool, seed=seed, samples=5, **tolerances(pool))
