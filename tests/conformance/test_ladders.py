"""Ladders and Stargate's lanes pass the suite."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from tests.support.ladders import ladders, stargate_lanes

SEEDS = st.integers(0, 2**32)


@given(ladder=ladders(), seed=SEEDS)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_ladders_conform(ladder, seed):
    check_market(ladder, seed=seed, samples=6, rounding_units=2 * len(ladder.levels))


def shared_unit(lane) -> int:
    """Return the smallest units of a shared unit, on the side where there are more."""
    return 10 ** (max(lane.token_in.decimals, lane.token_out.decimals) - 6)


@given(lane=stargate_lanes(zones=False), seed=SEEDS)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_stargate_lanes_with_one_fee_conform(lane, seed):
    check_market(lane, seed=seed, samples=6, rounding_units=4 * shared_unit(lane))


@given(lane=stargate_lanes(), seed=SEEDS)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_stargate_lanes_conform(lane, seed):
    """A larger zone's fee holds for the whole amount: more may give less, and two amounts may beat one."""
    step = 1.002 * (lane.terms.fee3_pips - lane.terms.fee1_pips) / 10**6
    gain = step / (1 - lane.terms.fee3_pips / 10**6)
    check_market(
        lane,
        seed=seed,
        samples=6,
        rounding_units=4 * shared_unit(lane),
        split_gain=gain,
        split_units=2 * 10 ** (lane.token_in.decimals - 6),
        dip=gain,
    )
