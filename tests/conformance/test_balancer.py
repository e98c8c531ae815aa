"""Balancer's pools pass the suite that every kind passes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from routing_engine.fixed_point import WAD
from tests.support.balancer_pools import (
    linear_pools,
    linear_rounding,
    stable_pools,
    stable_rounding,
    v1_pools,
    v1_rounding,
    weighted_pools,
    weighted_rounding,
)

SEEDS = st.integers(0, 2**32)


@given(pool=weighted_pools(), seed=SEEDS)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_weighted_pools_conform(pool, seed):
    steps = weighted_rounding(pool)
    check_market(pool, seed=seed, samples=3, rounding_units=steps, split_units=steps)


@given(pool=stable_pools(), seed=SEEDS)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_stable_pools_conform(pool, seed):
    steps = stable_rounding(pool)
    # The fee stays in the pool, so the second of two trades may find a deeper one.
    gain = pool.fee_e18 / WAD
    check_market(pool, seed=seed, samples=3, rounding_units=steps, split_units=steps, split_gain=gain)


@given(pool=v1_pools(), seed=SEEDS)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_v1_pools_conform(pool, seed):
    steps = v1_rounding(pool)
    # A cut series pays up to 1e-10 less than the power, and less of that for two trades than for one.
    check_market(pool, seed=seed, samples=3, rounding_units=steps, split_units=steps, split_gain=1e-8)


@given(pool=linear_pools(), seed=SEEDS)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_linear_pools_conform(pool, seed):
    steps = linear_rounding(pool)
    # Main balances are rounded down, which can favour the trader by a unit, or by more when few shares remain.
    trip = 2 + max(pool.balances) // WAD
    check_market(pool, seed=seed, samples=3, rounding_units=steps, split_units=steps, trip_units=trip)
