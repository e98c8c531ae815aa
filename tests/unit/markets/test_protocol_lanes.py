"""Lanes by protocol: fees to the unit, limits, times."""

from __future__ import annotations

import json

import pytest

from routing_engine.errors import InvalidMarket, QuoteRefused
from routing_engine.market import UNLIMITED, Limits
from routing_engine.markets.bridges import Finality, across_lane, canonical_lane, cctp_lane, debridge_lane, hop_lanes
from routing_engine.markets.bridges.canonical import CHALLENGE_PERIOD_S
from routing_engine.model import NATIVE_ADDRESS
from tests.support.strategies import make_token

USDC, THERE = make_token(1, 6), make_token(2, 6, chain_id=42161)
WETH, WETH_THERE = make_token(3), make_token(4, chain_id=10)


def fees_of(hop):
    return {fee.name: fee.amount for fee in hop.fees}


def test_across_takes_all_three_fees():
    """The answers that across-protocol/frontend recorded for one ether in February 2023."""
    lane = across_lane(
        WETH,
        WETH_THERE,
        capital_fee_e18=100000000000000,
        lp_fee_e18=0,
        relayer_gas_fee=260576379222652,
        min_deposit=3216075230431790,
        max_deposit=175795030370782163843,
        fill_time_s=3,
    )
    hop, after = lane.swap_exact_in(WETH, WETH_THERE, 10**18)
    assert 10**18 - hop.amount_out == 360576379222652
    assert fees_of(hop) == {
        "relayer_fee": 100000000000000,
        "lp_fee": 0,
        "destination_gas_fee": 260576379222652,
    }
    assert lane.limits(WETH, WETH_THERE) == Limits(3216075230431790, 175795030370782163843)
    assert after.max_amount_in == lane.max_amount_in - 10**18


@pytest.mark.shared_data
def test_across_recorded_answers(shared_data):
    samples = json.loads((shared_data / "bridge_responses" / "across.json").read_text())["samples"]
    answers = [
        sample["response"] for sample in samples if "suggested-fees" in sample["endpoint"] and "response" in sample
    ]
    nested = next(answer for answer in answers if "relayerCapitalFee" in answer)
    lane = across_lane(
        USDC,
        THERE,
        capital_fee_e18=int(nested["relayerCapitalFee"]["pct"]),
        lp_fee_e18=int(nested["lpFee"]["pct"]),
        relayer_gas_fee=int(nested["relayerGasFee"]["total"]),
        min_deposit=int(nested["limits"]["minDeposit"]),
        max_deposit=int(nested["limits"]["maxDeposit"]),
        fill_time_s=int(nested["estimatedFillTimeSec"]),
    )
    hop, _ = lane.swap_exact_in(USDC, THERE, 10**9)
    assert fees_of(hop) == {
        "relayer_fee": int(nested["relayerCapitalFee"]["total"]),
        "lp_fee": int(nested["lpFee"]["total"]),
        "destination_gas_fee": int(nested["relayerGasFee"]["total"]),
    }


@pytest.mark.parametrize(("bps", "fee"), [(1, 100_001), ("1.3", 130_001), ("0.25", 25_001), (0, 0)])
def test_cctps_fee_is_rounded_up_and_may_have_decimals(bps, fee):
    lane = cctp_lane(USDC, THERE, finality=Finality.FAST, minimum_fee_bps=bps, fill_time_s=20, allowance=10**12)
    hop, _ = lane.swap_exact_in(USDC, THERE, 10**9 + 1)
    assert fees_of(hop) == {"protocol_fee": fee}
    assert hop.amount_out == 10**9 + 1 - fee


def test_cctps_fast_lane_is_bounded_by_its_allowance_and_the_standard_one_is_not():
    fast = cctp_lane(USDC, THERE, finality=Finality.FAST, minimum_fee_bps=1, fill_time_s=20, allowance=10**9)
    slow = cctp_lane(USDC, THERE, finality=Finality.STANDARD, minimum_fee_bps=0, fill_time_s=1_080)
    minted = cctp_lane(USDC, THERE, finality=Finality.FAST, minimum_fee_bps=1, fill_time_s=20, forward_fee=200_000)
    assert (fast.protocol, minted.protocol, slow.protocol) == ("cctp_fast", "cctp_fast_forwarded", "cctp_standard")
    assert fast.id != slow.id
    assert slow.limits(USDC, THERE).max_amount_in == UNLIMITED
    assert slow.swap_exact_in(USDC, THERE, 10**12)[0].amount_out == 10**12
    with pytest.raises(QuoteRefused):
        fast.swap_exact_in(USDC, THERE, 10**9 + 1)
    assert fast.swap_exact_in(USDC, THERE, 10**9)[1].edges() == ()


@pytest.mark.parametrize("bps", ["x", "-1", "10001", "0.000000000000001", "NaN"])
def test_impossible_basis_points_are_named(bps):
    with pytest.raises(InvalidMarket) as error:
        cctp_lane(USDC, THERE, finality=Finality.FAST, minimum_fee_bps=bps, fill_time_s=20)
    assert error.value.field == "minimum_fee_bps"


def test_hops_bonder_fee_is_the_larger_of_its_two_minima():
    """Compare with the contract's rule around the amount at which the share overtakes the flat fee."""
    lanes = hop_lanes(
        USDC, THERE, bonder_fee_bps=7, least_bonder_fee=250_000, destination_gas_fee=1_234, fill_time_s=600
    )
    small, large = lanes
    edge = small.max_amount_in
    assert large.min_amount_in == edge + 1
    for amount in (300_000, edge - 1, edge, edge + 1, edge + 1_429, 10**12):
        lane = small if amount <= edge else large
        minimum = max(amount * 7 // 10_000, 250_000)
        charged = fees_of(lane.swap_exact_in(USDC, THERE, amount)[0])
        assert minimum <= charged["bonder_fee"] <= minimum + 1
        assert charged["destination_gas_fee"] == 1_234
    assert edge * 7 // 10_000 == 250_000 < (edge + 1) * 7 // 10_000


def test_hop_with_little_liquidity_or_without_a_bonder_is_one_lane():
    (only,) = hop_lanes(
        USDC, THERE, bonder_fee_bps=7, least_bonder_fee=250_000, destination_gas_fee=0, fill_time_s=600, liquidity=10**8
    )
    assert only.max_amount_in == 10**8
    (free,) = hop_lanes(USDC, THERE, bonder_fee_bps=0, least_bonder_fee=0, destination_gas_fee=0, fill_time_s=600)
    assert free.swap_exact_in(USDC, THERE, 10**9)[0].amount_out == 10**9


def test_debridge_charges_a_share_and_a_flat_fee_in_the_chains_coin():
    lane = debridge_lane(USDC, THERE, fixed_native_fee=10**15, operating_expenses=120_000, fill_time_s=4)
    hop, _ = lane.swap_exact_in(USDC, THERE, 10**9)
    assert fees_of(hop) == {
        "protocol_fee": 400_000,
        "relayer_fee": 400_000,
        "destination_gas_fee": 120_000,
        "message_fee": 10**15,
    }
    assert hop.amount_out == 10**9 - 920_000
    paid_on_top = hop.fees[-1]
    assert (paid_on_top.token.address, paid_on_top.token.chain_id, paid_on_top.included) == (NATIVE_ADDRESS, 1, False)


def test_canonical_bridges_take_nothing_but_a_week():
    down = canonical_lane(WETH_THERE, WETH, fill_time_s=CHALLENGE_PERIOD_S, claim_fee=10**15)
    hop, _ = down.swap_exact_in(WETH_THERE, WETH, 10**18)
    assert (hop.amount_out, hop.fill_time_s) == (10**18 - 10**15, 7 * 86_400)
    up = canonical_lane(WETH, WETH_THERE, fill_time_s=600)
    assert up.swap_exact_in(WETH, WETH_THERE, 5)[0].amount_out == 5
