"""Every kind of market passes the suite that third parties run on theirs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from routing_engine.markets import installed_kinds
from tests.support.balancer_pools import BALANCER_KINDS
from tests.support.deep_strategies import DEEP_KINDS
from tests.support.stableswap import CURVE_KINDS
from tests.support.strategies import concentrated_pools, constant_product_pools, lanes, wraps
from tests.support.tolerances import tolerances

SEEDS = st.integers(0, 2**32)


@given(pool=constant_product_pools(), seed=SEEDS)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_constant_product_pools_conform(pool, seed):
    check_market(pool, seed=seed, samples=6)


@given(pool=concentrated_pools(), seed=SEEDS)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_concentrated_pools_conform(pool, seed):
    pool.validate()
    check_market(pool, seed=seed, samples=4, **tolerances(pool))


@given(lane=lanes(), seed=SEEDS)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_lanes_conform(lane, seed):
    check_market(lane, seed=seed, samples=6)


@given(wrap=wraps(), seed=SEEDS)
@settings(max_examples=5, deadline=None, derandomize=True)
def test_wraps_conform(wrap, seed):
    check_market(wrap, seed=seed)


def test_every_kind_of_the_registry_is_checked_here():
    others = DEEP_KINDS | BALANCER_KINDS | CURVE_KINDS
    assert (
        set(installed_kinds())
        == {"constant_product", "concentrated", "ladder", "lane", "solidly", "stargate", "wrap"} | others
    )
