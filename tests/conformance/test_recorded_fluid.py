"""Recorded Fluid pools: how many load, that they conform, and that they agree with the market around them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from math import log

import pytest

from adapters.testing import check_market
from routing_engine.markets import ConcentratedPool, ConstantProductPool, pool_readers
from routing_engine.markets.common.pool_fields import PoolRefused, read_tokens
from routing_engine.snapshot.snapshot import Snapshot
from tests.support.tolerances import tolerances

pytestmark = pytest.mark.shared_data

FILES = {"eth_fynd_24693611": 17, "eth_fynd_24699608": 11, "eth_fynd_24721174": 11}
"""Pools of which something can be taken out, of 21, 21 and 22."""


def load(shared_data, name):
    with gzip.open(shared_data / "markets" / f"{name}.json.gz") as file:
        records = json.load(file)["pools"]
    found, refused = [], Counter()
    for record in records:
        if record["type"] in ("fluid_dex", "fluid-dex-t1"):
            try:
                found.append(pool_readers()[record["type"]](record, record["id"], read_tokens(record)))
            except PoolRefused as reason:
                refused[str(reason)] += 1
    return found, refused


@pytest.mark.parametrize(("name", "loaded"), [*FILES.items(), ("multi_kyber_fixtures", 1)])
def test_all_pools_load_of_which_something_can_be_taken_out(shared_data, name, loaded):
    found, refused = load(shared_data, name)
    assert len(found) == loaded
    assert set(refused) <= {"nothing_withdrawable"}


@pytest.mark.parametrize("name", [*FILES, "multi_kyber_fixtures"])
def test_recorded_pools_conform(shared_data, name):
    for pool in load(shared_data, name)[0]:
        check_market(pool, samples=5, **tolerances(pool))


@pytest.mark.parametrize("name", FILES)
def test_the_eth_usdc_pool_agrees_with_the_other_pools(shared_data, name):
    """Fluid keeps ETH, others WETH: their prices differ by less than both fees, so nothing is to be gained."""
    snapshot = Snapshot.load(shared_data / "markets" / f"{name}.json.gz")
    usdc, weth = snapshot.token("USDC@1"), snapshot.token("WETH@1")
    fluid = next(
        market
        for market in snapshot.markets.values()
        if market.protocol == "fluid_v1" and usdc in market.tokens and any(token.is_native for token in market.tokens)
    )
    native = next(token for token in fluid.tokens if token.is_native)
    others = [
        market
        for market in snapshot.markets.values()
        if isinstance(market, ConcentratedPool | ConstantProductPool) and set(market.tokens) == {usdc, weth}
    ]
    assert len(others) == 6
    mid = log(fluid.spot_price(native, usdc) / fluid.spot_price(usdc, native)) / 2
    for other in others:
        other_mid = log(other.spot_price(weth, usdc) / other.spot_price(usdc, weth)) / 2
        assert abs(mid - other_mid) < (fluid.fee_pips + other.fee_pips) * 1e-6
