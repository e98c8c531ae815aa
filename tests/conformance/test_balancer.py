"""Balancer's pools pass the suite that every kind passes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from tests.support.balancer_pools import linear_pools, stable_pools, v1_pools, weighted_pools
from tests.support.tolerances import tolerances

SEEDS = st.integers(0, 2**32)


@given(pool=weighted_pools(), seed=SEEDS)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_weighted_pools_conform(pool, seed):
    check_market(pool, seed=seed, samples=3, **tolerances(pool))


@given(pool=stable_pools(), seed=SEEDS)
@settings(max_examples=20, deadline=None, derandomize=True)
def test_stable_pools_conform(pool, seed):
    check_market(pool, seed=seed, samples=3, **tolerances(pool))


@given(pool=v1_pools(), seed=SEEDS)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_v1_pools_conform(pool, seed):
    check_market(pool, seed=seed, samples=3, **tolerances(pool))


@given(pool=linear_pools(), seed=SEEDS)
@settings(max_examples=20, deadline=None, derandomize=True)
def test_linear_pools_conform(pool, seed):
    check_market(pool, seed=seed, samples=3, **tolerances(pool))
