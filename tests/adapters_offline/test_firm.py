"""Whom to ask for a firm quote."""

from __future__ import annotations

import pytest

from adapters.base import Declined, VenueUnavailable
from adapters.bridges.firm_quotes import FirmQuoter
from adapters.feed.plan import Plan
from adapters.testing import ReplayClient
from routing_engine.markets import ConstantProductPool
from routing_engine.markets.bridges import canonical_lane
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
