"""Ticks and square-root prices at the points that the contract documents."""

from __future__ import annotations

import pytest

from routing_engine.amm.concentrated.tick_math import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)
from routing_engine.fixed_point import Q96


@pytest.mark.parametrize(("tick", "ratio"), [(MIN_TICK, MIN_SQRT_RATIO), (0, Q96), (MAX_TICK, MAX_SQRT_RATIO)])
def test_the_documented_ratios(tick, ratio):
    assert sqrt_ratio_at_tick(tick) == ratio


@pytest.mark.parametrize("tick", [1, -1, 50, 200_000, -200_000, 500_000, 887_271, -887_271])
def test_a_ratio_is_the_root_of_the_price(tick):
    assert sqrt_ratio_at_tick(tick) / Q96 == pytest.approx(1.0001 ** (tick / 2), rel=1e-9)


@pytest.mark.parametrize("tick", [MIN_TICK - 1, MAX_TICK + 1])
def test_no_ratio_beyond_the_range(tick):
    with pytest.raises(ValueError, match="tick must be from"):
        sqrt_ratio_at_tick(tick)


@pytest.mark.parametrize("ratio", [MIN_SQRT_RATIO - 1, MAX_SQRT_RATIO])
def test_no_tick_beyond_the_range(ratio):
    with pytest.raises(ValueError, match="outside the range"):
        tick_at_sqrt_ratio(ratio)


@pytest.mark.parametrize("tick", [MIN_TICK, MIN_TICK + 1, -1, 0, 1, 74_959, MAX_TICK - 1])
def test_a_ratio_belongs_to_its_tick_and_one_unit_less_to_the_tick_below(tick):
    assert tick_at_sqrt_ratio(sqrt_ratio_at_tick(tick)) == tick
    assert tick_at_sqrt_ratio(sqrt_ratio_at_tick(tick + 1) - 1) == tick


def test_the_highest_ratio_belongs_to_the_last_tick():
    assert tick_at_sqrt_ratio(MAX_SQRT_RATIO - 1) == MAX_TICK - 1
