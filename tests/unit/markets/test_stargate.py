"""Stargate's lanes: zones, rewards, credit, and the cut to shared decimals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine.amm.stargate_fee import MAX_SHARED, FeeTerms, Stretch, apply_fee, stretches
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.market import Limits
from routing_engine.markets import StargateLane, market_from_record
from tests.support.strategies import make_token

HERE, THERE = make_token(1, 18), make_token(2, 6, chain_id=10)
UNIT = 10**12
TERMS = FeeTerms(10_000, 100_000, 0, 600, 3_000, 500)
LANE = StargateLane(
    id="stargate", token_in=HERE, token_out=THERE, terms=TERMS, credit=10**9, native_fee=5, fill_time_s=60
)


def sent(lane, shared):
    return lane.swap_exact_in(HERE, THERE, shared * UNIT)[0].amount_out


@pytest.mark.parametrize(
    ("shared", "arrives"),
    [(10_000, 10_000), (10_001, 9_994), (100_000, 99_939), (100_001, 99_700), (1_000_000, 996_999)],
)
def test_a_fee_is_the_floor_and_one_more_and_holds_for_the_whole_amount(shared, arrives):
    assert sent(LANE, shared) == arrives


def test_what_is_finer_than_shared_decimals_stays_with_the_sender():
    hop, after = LANE.swap_exact_in(HERE, THERE, 10_001 * UNIT - 1)
    assert hop.amount_out == 10_000
    assert after.credit == LANE.credit - 10_000
    assert [(fee.name, fee.amount, fee.included) for fee in hop.fees] == [
        ("protocol_fee", 0, True),
        ("message_fee", 5, False),
    ]


def test_filling_a_deficit_is_rewarded_out_of_the_treasury():
    lane = replace(LANE, deficit=50_000, treasury=10)
    assert sent(lane, 10_000) == 10_005
    assert sent(lane, 50_000) == 50_010
    assert sent(replace(lane, treasury=10**6), 50_000) == 50_025
    _, after = lane.swap_exact_in(HERE, THERE, 50_000 * UNIT)
    assert (after.deficit, after.treasury, after.credit) == (0, 0, LANE.credit - 50_010)


def test_least_inputs_across_the_fall_at_a_zones_end():
    assert LANE.swap_exact_out(HERE, THERE, 10_000)[0].amount_in == 10_000 * UNIT
    assert LANE.swap_exact_out(HERE, THERE, 9_999)[0].amount_in == 9_999 * UNIT
    assert LANE.swap_exact_out(HERE, THERE, 10_001)[0].amount_in == 10_008 * UNIT


def test_stretches_end_where_the_slope_changes():
    assert stretches(TERMS, 0, 0) == [Stretch(1, 1.0), Stretch(10_001, 0.9994), Stretch(100_001, 0.997)]
    assert stretches(TERMS, 1_000_000, 100) == [
        Stretch(1, 1.0005),
        Stretch(200_002, 1.0),
        Stretch(1_000_001, 1.0),
        Stretch(1_010_001, 1.0),
        Stretch(1_100_001, 1.0),
        Stretch(1_133_001, 0.997),
    ]
    assert apply_fee(TERMS, 1_133_000, 1_000_000) == 1_133_000 + 500 - 400


def test_credit_bounds_what_arrives():
    lane = replace(LANE, credit=1_000, deficit=1_000, treasury=10**6)
    assert lane.limits(HERE, THERE) == Limits(UNIT, 1_001 * UNIT - 1)
    with pytest.raises(QuoteRefused) as refused:
        lane.swap_exact_in(HERE, THERE, 1_001 * UNIT)
    assert refused.value.reason is Refusal.AMOUNT_TOO_HIGH
    rich = replace(lane, terms=TERMS._replace(reward_pips=500_000))
    with pytest.raises(QuoteRefused):
        rich.swap_exact_in(HERE, THERE, 1_000 * UNIT)
    assert replace(LANE, credit=0).edges() == ()


def test_unlimited_credit_is_never_used_up():
    _, after = replace(LANE, credit=MAX_SHARED).swap_exact_in(HERE, THERE, 10**9 * UNIT)
    assert after.credit == MAX_SHARED


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"token_out": make_token(9)}, "token_out"),
        ({"token_in": make_token(1, 5)}, "token_in"),
        ({"token_out": make_token(2, 4, chain_id=10)}, "token_out"),
        ({"terms": TERMS._replace(fee2_pips=1_000_000)}, "terms"),
        ({"terms": TERMS._replace(zone2_most=1)}, "terms"),
        ({"terms": TERMS._replace(reward_pips=-1)}, "terms"),
        ({"deficit": -1}, "deficit"),
        ({"credit": 2**64}, "credit"),
        ({"native_fee": -1}, "native_fee"),
        ({"fill_time_s": -1}, "fill_time_s"),
    ],
)
def test_impossible_states_are_named(changes, field):
    with pytest.raises(InvalidMarket) as error:
        replace(LANE, **changes)
    assert error.value.field.startswith(field)


def test_a_record_holds_one_row_of_terms():
    record = {**LANE.to_record(), "terms": []}
    with pytest.raises(InvalidMarket, match="terms: must be one row"):
        market_from_record(record, {token.key: token for token in LANE.tokens})
