"""Single paths whose last markets take less than the best way there brings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import recorded
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.search import single_paths
from tests.support.markets import market_of, token

POOLS = """
    p0: A B 900 900 30bps
    p1: A B 800 800 30bps
    p2: A B 700 700 30bps
    p3: A B 600 600 30bps
    p4: A B 60 60 30bps
    p5: A B 20 20 30bps
    l0: B@1 > C@10 max=40 10bps
"""
SHALLOW = """
    d0: A D 5 5 30bps
    d1: D@1 > C@10 10bps
"""


@pytest.mark.parametrize("others", ["", SHALLOW])
@pytest.mark.parametrize("max_hops", [2, 3, 5])
def test_the_way_that_brings_just_what_is_taken_is_found(others: str, max_hops: int) -> None:
    """Of six pools, five bring more, and the three labels of most were all that was kept."""
    router = Router(Snapshot(market_of(POOLS + others), gas_prices={1: 0}))
    request = RouteRequest(
        token_in=token("A"), token_out=token("C@10"), amount=100 * 10**18, max_hops=max_hops, max_splits=1
    )
    route = router.find_routes(request).best()
    assert [hop.market_id for hop in route.hops] == ["p4", "l0"]
    assert [result.best() for result in router.stream(request)][-1] == route


@pytest.mark.parametrize("max_splits", [2, 100])
def test_it_is_found_too_where_more_paths_may_be_used_and_find_nothing(max_splits: int) -> None:
    """Once more paths had no route where one had."""
    router = Router(Snapshot(market_of(POOLS), gas_prices={1: 0}))
    request = RouteRequest(
        token_in=token("A"), token_out=token("C@10"), amount=100 * 10**18, max_splits=max_splits, max_hops=2
    )
    result = router.find_routes(request)
    alone = router.find_routes(replace(request, max_splits=1)).best()
    assert result.best().amount_out_net >= alone.amount_out_net
    assert result.certificate is not None


def test_where_no_market_is_filled_nothing_more_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The larger of two labels is the better one then. Each such search took a hundred times as long as the path."""
    asked: list[float] = []
    monkeypatch.setattr(single_paths, "find_within_limits", lambda *given: asked.append(given[3]) or [])
    request = RouteRequest(token_in=token("A"), token_out=token("C@10"), amount=10**21, max_hops=3, max_splits=1)
    for text, count in ((POOLS.replace("max=40 ", ""), 0), (POOLS.replace("max=40 ", "max=500 "), 1)):
        Router(Snapshot(market_of(text), gas_prices={1: 0})).find_routes(request)
        assert len(asked) == count


@pytest.mark.shared_data
def test_a_recorded_amount_that_fills_the_last_pools(shared_data: Path) -> None:
    """Once 40,651.44953 PYUSD, of which a path of three hops, built by hand, gave 111,756.600544."""
    market = recorded.market(shared_data, recorded.GOLDEN_RECORDING)
    named = {each.symbol: each for each in market.tokens}
    request = RouteRequest(
        token_in=named["WBTC"], token_out=named["PYUSD"], amount=423_600_000, max_splits=1, gas_prices={1: 0}
    )
    router = Router(market)
    assert router.find_routes(replace(request, max_hops=3)).best().amount_out >= 111_756_600_544
    assert router.find_routes(request).best().amount_out >= 114_942_380_068
