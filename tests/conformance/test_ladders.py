"""Ladders and Stargate's lanes pass the suite."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from tests.support.ladders import ladders, stargate_lanes
from tests.support.tolerances import tolerances

SEEDS = st.integers(0, 2**32)


@given(ladder=ladders(), seed=SEEDS)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_ladders_conform(ladder, seed):
    check_market(ladder, seed=seed, samples=6, **tolerances(ladder))


@given(lane=stargate_lanes(zones=False), seed=SEEDS)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_stargate_lanes_with_one_fee_conform(lane, seed):
    assert set(tolerances(lane)) == {"rounding_units"}
    check_market(lane, seed=seed, samples=6, **tolerances(lane))


@given(lane=stargate_lanes(), seed=SEEDS)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_stargate_lanes_conform(lane, seed):
    check_market(lane, seed=seed, samples=6, **tolerances(lane))
