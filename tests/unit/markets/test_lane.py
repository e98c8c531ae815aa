"""Bridge lanes: fees, decimals, limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.market import UNLIMITED
from routing_engine.markets import BridgeLane, LaneFee
from tests.support.strategies import make_token

SIX, EIGHTEEN = make_token(1, decimals=6), make_token(2, decimals=18, chain_id=56)

LANE = BridgeLane(
    id="across:1:56:usdc",
    protocol="across",
    token_in=SIX,
    token_out=EIGHTEEN,
    fees=(LaneFee(name="destination_gas_fee", flat=250_000), LaneFee(name="relayer_fee", rate_e18=10**15)),
    min_amount_in=1_000_000,
    max_amount_in=10_000_000_000,
    fill_time_s=4,
    gas=90_000,
)


def test_fees_are_taken_from_the_input_and_decimals_rescaled():
    hop, _ = LANE.swap_exact_in(SIX, EIGHTEEN, 100_000_000)
    assert [(fee.name, fee.amount, fee.token) for fee in hop.fees] == [
        ("destination_gas_fee", 250_000, SIX),
        ("relayer_fee", 100_000, SIX),
    ]
    assert hop.amount_out == 99_650_000 * 10**12
    assert (hop.fill_time_s, hop.gas, hop.is_bridge) == (4, 90_000, True)


def test_fewer_decimals_round_the_output_down():
    back = replace(LANE, token_in=EIGHTEEN, token_out=replace(SIX, chain_id=10), fees=(), max_amount_in=UNLIMITED)
    hop, _ = back.swap_exact_in(back.token_in, back.token_out, 1_999_999 * 10**12 + 10**12 - 1)
    assert hop.amount_out == 1_999_999
    least, _ = back.swap_exact_out(back.token_in, back.token_out, 1_999_999)
    assert least.amount_in == 1_999_999 * 10**12


def test_proportional_fees_round_up_together_and_add_up():
    thirds = tuple(LaneFee(name=name, rate_e18=10**18 // 7) for name in "abc")
    lane = replace(LANE, fees=thirds, min_amount_in=1)
    hop, _ = lane.swap_exact_in(SIX, EIGHTEEN, 10)
    assert [fee.amount for fee in hop.fees] == [2, 1, 2]  # 3/7 of 10 is 4.3, rounded up once
    assert hop.amount_out == 5 * 10**12


def test_the_capacity_left_shrinks_by_what_was_sent():
    _, after = LANE.swap_exact_in(SIX, EIGHTEEN, 9_000_000_000)
    assert after.limits(SIX, EIGHTEEN).max_amount_in == 1_000_000_000
    _, full = after.swap_exact_in(SIX, EIGHTEEN, 1_000_000_000)
    assert full.edges() == ()
    assert replace(LANE, max_amount_in=UNLIMITED).swap_exact_in(SIX, EIGHTEEN, 10**9)[1].max_amount_in == UNLIMITED


@pytest.mark.parametrize(
    ("amount", "reason"),
    [(999_999, Refusal.AMOUNT_TOO_LOW), (10_000_000_001, Refusal.AMOUNT_TOO_HIGH)],
)
def test_deposit_limits(amount, reason):
    with pytest.raises(QuoteRefused) as refused:
        LANE.swap_exact_in(SIX, EIGHTEEN, amount)
    assert refused.value.reason is reason


def test_a_fee_above_the_amount_raises_the_minimum():
    lane = replace(LANE, min_amount_in=1)
    assert lane.limits(SIX, EIGHTEEN).min_amount_in == 250_252  # 1 unit + 250,000 + 251 of 0.1 %
    assert lane.swap_exact_in(SIX, EIGHTEEN, 250_252)[0].amount_out == 10**12
    with pytest.raises(QuoteRefused, match="AMOUNT_TOO_LOW"):
        lane.swap_exact_in(SIX, EIGHTEEN, 250_251)


def test_only_its_own_direction():
    with pytest.raises(QuoteRefused, match="UNSUPPORTED_PAIR"):
        LANE.swap_exact_in(EIGHTEEN, SIX, 10**18)


def test_more_than_the_capacity_cannot_be_bought():
    with pytest.raises(QuoteRefused, match="INSUFFICIENT_LIQUIDITY"):
        LANE.swap_exact_out(SIX, EIGHTEEN, 10**30)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"token_out": replace(EIGHTEEN, chain_id=1)}, "token_out"),
        ({"fees": (LaneFee(name="all", rate_e18=10**18),)}, "fees"),
        ({"fees": (LaneFee(name="less", flat=-1),)}, "fees"),
        ({"min_amount_in": -1}, "min_amount_in"),
        ({"max_amount_in": -1}, "max_amount_in"),
        ({"min_amount_in": 10, "max_amount_in": 9}, "max_amount_in"),
        ({"gas": -1}, "gas"),
        ({"fill_time_s": -1}, "fill_time_s"),
    ],
)
def test_impossible_lanes_name_the_field(change, field):
    with pytest.raises(InvalidMarket) as error:
        replace(LANE, **change)
    assert error.value.field == field


def test_what_is_left_below_the_minimum_closes_the_lane():
    lane = replace(LANE, min_amount_in=10**9, max_amount_in=10**10)
    _, after = lane.swap_exact_in(SIX, EIGHTEEN, 10**10 - 10**9 + 1)
    assert after.max_amount_in == 0
    assert not after.edges()
    assert replace(after) == after
    _, open_still = lane.swap_exact_in(SIX, EIGHTEEN, 10**10 - 10**9)
    assert open_still.edges() == ((SIX, EIGHTEEN),)
