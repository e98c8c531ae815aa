"""Pools of the Solidly family pass the suite."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from tests.support.solidly import solidly_pools
from tests.support.tolerances import tolerances


@given(pool=solidly_pools(), seed=st.integers(0, 2**32))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_solidly_pools_conform(pool, seed):
    check_market(pool, seed=seed, samples=5, **tolerances(pool))
