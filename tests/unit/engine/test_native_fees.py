"""What a bridge charges in coin, on top of the input, weighs like gas."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool
from routing_engine.markets.bridges import debridge_lane
from routing_engine.reference.chains import CHAINS
from tests.support.strategies import make_token

USDC, THERE = make_token(1, 6), make_token(2, 6, chain_id=10)
POOL = ConstantProductPool(
    id="1:0xpool",
    protocol="uniswap_v2",
    token0=USDC,
    token1=CHAINS[1].wrapped_native_token,
    reserve0=3_000_000 * 10**6,
    reserve1=1_000 * 10**18,
    fee_pips=3_000,
)
FREE = debridge_lane(USDC, THERE, fixed_native_fee=0, operating_expenses=0, fill_time_s=5)
CHARGED = replace(FREE, native_fee=10**15)


def best(*lanes):
    snapshot = Snapshot([POOL, *lanes], gas_prices={1: 10**9, 10: 10**6})
    return Router(snapshot).find_routes(RouteRequest(token_in=USDC, token_out=THERE, amount=10**9)).best()


def test_a_native_fee_lowers_the_net_output_by_its_worth():
    free, charged = best(FREE), best(CHARGED)
    assert charged.amount_out == free.amount_out
    assert charged.gas == free.gas
    assert free.amount_out_net - charged.amount_out_net == pytest.approx(3 * 10**6, rel=0.01)


def test_it_decides_between_lanes():
    dearer = replace(FREE, id="other", fees=(replace(FREE.fees[2], flat=2_500_000),))
    assert best(CHARGED, dearer).hops[0].market_id == "other"
