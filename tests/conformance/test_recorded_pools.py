"""Recorded main-net pools pass the suite too."""

from __future__ import annotations

import gzip
import json

import pytest

from adapters.testing import check_market
from routing_engine.markets import ConcentratedPool
from routing_engine.model import Token
from tests.support.strategies import most_steps

EVERY = 15
"""One pool in so many, for time."""


def read_pool(record) -> ConcentratedPool:
    token0, token1 = (
        Token(chain_id=1, address=item["address"], symbol=item["symbol"], decimals=item["decimals"])
        for item in record["tokens"]
    )
    return ConcentratedPool(
        id=record["id"],
        protocol="uniswap_v3",
        token0=token0,
        token1=token1,
        fee_pips=round(float(record["fee"]) * 1_000_000),
        tick_spacing=record["tick_spacing"],
        sqrt_price_x96=int(record["sqrt_price_x96"]),
        tick=record["tick"],
        liquidity=int(record["liquidity"]),
        ticks=tuple((int(index), int(net)) for index, net in record["ticks"]),
    )


@pytest.mark.shared_data
def test_recorded_concentrated_pools_conform(shared_data):
    with gzip.open(shared_data / "markets" / "eth_fynd_24721174.json.gz") as file:
        records = json.load(file)["pools"]
    pools = [read_pool(record) for record in records if record["protocol"] == "uniswap_v3" and record["ticks"]]
    assert len(pools) > 250
    for pool in pools:
        pool.validate()
    for pool in pools[::EVERY]:
        check_market(pool, samples=3, rounding_units=4 * most_steps(pool))
