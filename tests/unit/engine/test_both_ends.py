"""Single paths that a search from one end loses, and labels that gas would push out."""

from __future__ import annotations

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool
from routing_engine.model import NATIVE_ADDRESS, Token
from routing_engine.route import Route
from tests.support.markets import market_of, token

WAY_OUT = """
    sn: S N 1000000 1000000 0bps
    nm: N M 1000000 2000000 0bps
    q1: M N 1000000 1000000 0bps
    q2: M N 1000000 1000000 0bps
    q3: M N 1000000 1000000 0bps
    my: M Y 1000000 1000000 0bps
    yb: Y B 1000000 900000 0bps
    nb: N B 1000000 1000000 0bps
"""
"""From M there are three better ways to B over N, which the only way to N has met: searches from B keep just these."""

WAY_IN = """
    sy: S Y 1000000 900000 0bps
    ym: Y M 1000000 1000000 0bps
    sn: S N 1000000 1000000 0bps
    q1: N M 1000000 1000000 0bps
    q2: N M 1000000 1000000 0bps
    q3: N M 1000000 1000000 0bps
    mn: M N 1000000 2000000 0bps
    nb: N B 1000000 1000000 0bps
"""
"""The same from the other end: searches from S keep three ways to M that have met N."""

COIN = Token(chain_id=1, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)


def find_single(text: str, amount: int, side: str) -> Route:
    request = RouteRequest(
        token_in=token("S"), token_out=token("B"), amount=amount, side=side, max_splits=1, max_hops=4
    )
    return Router(Snapshot(market_of(text))).find_routes(request).best()


@pytest.mark.parametrize(("text", "over"), [(WAY_OUT, ["sn", "nm", "my", "yb"]), (WAY_IN, ["sy", "ym", "mn", "nb"])])
def test_what_one_end_loses_the_other_finds(text: str, over: list[str]) -> None:
    sold = find_single(text, 10**18, "exact_in")
    bought = find_single(text, sold.amount_out, "exact_out")
    assert [hop.market_id for hop in sold.hops] == over
    assert [hop.market_id for hop in bought.hops] == over
    assert bought.amount_in <= sold.amount_in


def pool(name: str, other: Token, coins: int, others: int, gas: int) -> ConstantProductPool:
    return ConstantProductPool(
        id=name, protocol="pool", token0=COIN, token1=other, reserve0=coins, reserve1=others, fee_pips=0, gas=gas
    )


def test_gas_at_a_wrong_price_does_not_hide_the_path_that_brings_most() -> None:
    """The deepest pool of B pays next to nothing of it for gas, the one that is traded with pays a fortune."""
    start, end = token("S"), token("B")
    markets = [
        *[pool(f"little{number}", start, 10**23, 10**24, 100_000) for number in range(3)],
        pool("much", start, 10**24, 10**24, 200_000),
        pool("deepest", end, 10**26, 10**16, 100_000),
        pool("traded", end, 10**20, 10**20, 100_000),
    ]
    router = Router(Snapshot(markets, gas_prices={1: 10**11}))
    request = RouteRequest(token_in=start, token_out=end, amount=10**15, max_splits=1, max_hops=2)
    assert [hop.market_id for hop in router.find_routes(request).best().hops] == ["much", "traded"]
