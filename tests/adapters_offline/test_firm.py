"""Whom to ask for a firm quote."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.base import Declined, VenueUnavailable
from adapters.bridges.firm_quotes import FirmQuoter, confirm_lane
from adapters.feed.plan import Plan
from adapters.testing import ReplayClient
from routing_engine.markets import BridgeLane, ConstantProductPool
from routing_engine.markets.bridges import across_lane, canonical_lane
from routing_engine.model import Hop
from routing_engine.reference import token_registry
from tests.support.strategies import TOKEN0, TOKEN1

ACCOUNT = "0x" + "12" * 20
ETHER = token_registry.token("ETH", 1), token_registry.token("ETH", 10)


def deposit() -> Hop:
    lane = canonical_lane(*ETHER, fill_time_s=60)
    return lane.swap_exact_in(*ETHER, 10**18)[0]


def test_the_bridge_of_the_hop_is_asked() -> None:
    quoter = FirmQuoter.from_plan(Plan(adapters=("canonical", "across")), ReplayClient({}))
    assert quoter.confirm(deposit(), sender=ACCOUNT, recipient=ACCOUNT).hop == deposit()


def test_a_bridge_that_is_not_run_and_a_pool_are_declined() -> None:
    quoter = FirmQuoter.from_plan(Plan(adapters=("across",)), ReplayClient({}))
    with pytest.raises(Declined, match="canonical: nobody confirms"):
        quoter.confirm(deposit(), sender=ACCOUNT, recipient=ACCOUNT)
    pool = ConstantProductPool(
        id="1:a", protocol="uniswap_v2", token0=TOKEN0, token1=TOKEN1, reserve0=10**20, reserve1=10**20, fee_pips=0
    )
    hop, _ = pool.swap_exact_in(TOKEN0, TOKEN1, 10**18)
    with pytest.raises(Declined, match="uniswap_v2: nobody confirms"):
        quoter.confirm(hop, sender=ACCOUNT, recipient=ACCOUNT)


def test_stargate_needs_the_chains_endpoints() -> None:
    quoter = FirmQuoter.from_plan(Plan(adapters=("canonical",)), ReplayClient({}))
    usdc = token_registry.token("USDC", 1), token_registry.token("USDC", 10)
    hop = Hop(
        market_id="x", protocol="stargate", token_in=usdc[0], token_out=usdc[1], amount_in=10**6, amount_out=10**6
    )
    with pytest.raises(VenueUnavailable, match="chain 1: no endpoint"):
        quoter.confirm(hop, sender=ACCOUNT, recipient=ACCOUNT)


LANE = across_lane(
    token_registry.token("USDC", 1), token_registry.token("USDC", 10), capital_fee_e18=10**14, lp_fee_e18=3 * 10**12,
    relayer_gas_fee=10_007, min_deposit=10**6, max_deposit=10**12, fill_time_s=4,
)  # fmt: skip


@given(st.integers(10**6, 10**13), st.integers(0, 10**6), st.booleans())
def test_a_confirmed_lane_gives_just_what_was_told(amount: int, kept: int, has_fees: bool) -> None:
    made = replace(LANE, max_amount_in=10**13).swap_exact_in(LANE.token_in, LANE.token_out, amount)[0]
    told = replace(made, amount_out=max(1, made.amount_out - kept), fill_time_s=77, gas=5)
    told = told if has_fees else replace(told, fees=())
    lane = confirm_lane(LANE, told)
    assert lane is not None
    again = lane.swap_exact_in(LANE.token_in, LANE.token_out, amount)[0]
    assert (again.amount_out, again.fill_time_s, again.gas) == (told.amount_out, 77, 5)
    assert sum(fee.amount for fee in again.fees) == amount - told.amount_out


@given(st.integers(1, 10**30), st.integers(0, 10**12))
def test_decimals_may_differ(sent: int, kept: int) -> None:
    ends = token_registry.token("USDC", 1), replace(token_registry.token("USDC", 10), decimals=18)
    lane = BridgeLane(id="x", protocol="across", token_in=ends[0], token_out=ends[1], fill_time_s=1, gas=1)
    told = Hop(
        market_id="x", protocol="across", token_in=ends[0], token_out=ends[1], amount_in=sent,
        amount_out=max(10**12, (sent - kept) * 10**12),
    )  # fmt: skip
    confirmed = confirm_lane(lane, told)
    assert confirmed is not None
    assert confirmed.swap_exact_in(*ends, sent)[0].amount_out == told.amount_out


@pytest.mark.parametrize("amount_out", [10**6 + 1, 2 * 10**6, 0])
def test_what_no_fees_give_is_no_lane(amount_out: int) -> None:
    made = LANE.swap_exact_in(LANE.token_in, LANE.token_out, 10**6)[0]
    assert confirm_lane(LANE, replace(made, amount_out=amount_out)) is None
