"""The rollups' own bridges: what they carry, and what a withdrawal costs."""

from __future__ import annotations

import pytest

from adapters.base import BadPayload, Venues
from adapters.bridges.canonical import CanonicalAdapter
from adapters.testing import ReplayClient, check_parsing
from routing_engine.model import Token
from routing_engine.reference import token_registry

ACCOUNT = "0x" + "12" * 20


def test_it_conforms(tokens: tuple[Token, ...]) -> None:
    adapter = CanonicalAdapter(tokens)
    contents = check_parsing(adapter, adapter.fetch())
    down = [market for market in contents.markets if market.tokens[1].chain_id == 1]
    assert len(contents.markets) == 32
    assert {market.tokens[0].chain_id for market in down} == {10, 8453, 42161}
    assert all(market.limits(*market.tokens).max_amount_in > 10**60 for market in contents.markets)


def test_a_withdrawal_takes_a_week_and_ether(tokens: tuple[Token, ...]) -> None:
    (source,) = CanonicalAdapter.connect(Venues(http=ReplayClient({}), tokens=tokens, options={"l1_gas_gwei": "0.5"}))
    markets = {market.id: market for market in source.adapter.parse(None).markets}
    here, there = token_registry.token("USDC.e", 10), token_registry.token("USDC", 1)
    hop, _ = markets[f"canonical:10-1:{here.address}"].swap_exact_in(here, there, 10**9)
    assert (hop.amount_out, hop.fill_time_s) == (10**9, 7 * 86_400)
    ((fee,),) = [[fee for fee in hop.fees if not fee.included]]
    assert (fee.amount, fee.token) == (300_000 * 5 * 10**8, token_registry.token("ETH", 10))
    assert CanonicalAdapter(tokens).confirm(hop, sender=ACCOUNT, recipient=ACCOUNT).hop == hop


def test_a_wrong_option_is_named(tokens: tuple[Token, ...]) -> None:
    with pytest.raises(BadPayload, match=r"option canonical\.l1_gas_gwei must be"):
        CanonicalAdapter.connect(Venues(http=ReplayClient({}), tokens=tokens, options={"l1_gas_gwei": "cheap"}))
