"""Fluid, Ekubo and Bancor pools and vaults pass the suite."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from tests.support.deep_strategies import bancor_pools, ekubo_pools, fluid_pools, vaults
from tests.support.tolerances import tolerances

SEEDS = st.integers(0, 2**32)


@given(pool=fluid_pools(), seed=SEEDS)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_fluid_pools_conform(pool, seed):
    check_market(pool, seed=seed, samples=4, **tolerances(pool))


@given(pool=ekubo_pools(), seed=SEEDS)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_ekubo_pools_conform(pool, seed):
    pool.validate()
    check_market(pool, seed=seed, samples=4, **tolerances(pool))


@given(pool=bancor_pools(), seed=SEEDS)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_bancor_pools_conform(pool, seed):
    check_market(pool, seed=seed, samples=4, **tolerances(pool))


@given(vault=vaults(), seed=SEEDS)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_vaults_conform(vault, seed):
    check_market(vault, seed=seed, samples=4, **tolerances(vault))
