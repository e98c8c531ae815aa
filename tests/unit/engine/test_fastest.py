"""The order that puts time first gives, of the routes of the least time, the one that nets most."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from tests.support.markets import market_of, token

LANES = """
fast: A@1 > A@10 fee=1 1bps 60s max=1000
quick: A@1 > A@10 fee=2 2bps 60s max=1000
slow: A@1 > A@10 1bps 900s
big: A@10 B@10 90000 90000 30bps
deep: A@10 B@10 50000 50000 30bps
"""

NOISE = 1e-9
"""Over other sets of markets, divisions begin elsewhere and end by rounding elsewhere."""


@pytest.fixture(scope="module")
def sandbox() -> Router:
    return Router(Snapshot.sandbox())


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
@pytest.mark.parametrize(
    ("token_in", "token_out", "whole"),
    [("DAI@1", "WETH@10", 27_653), ("USDC@10", "WETH@10", 43_042), ("USDC@8453", "USDC@10", 62_665)],
)
def test_nothing_as_fast_nets_more(sandbox: Router, token_in: str, token_out: str, whole: int, side: str) -> None:
    bought = side == "exact_out"
    amount = sandbox.snapshot.token(token_out if bought else token_in).units(10 if bought else whole)
    request = RouteRequest(token_in=token_in, token_out=token_out, amount=amount, side=side, time_budget_ms=None)
    result = sandbox.find_routes(replace(request, order="fastest"))
    fastest, pareto = result.best(), sandbox.find_pareto_set(request).routes
    least = min(route.fill_time_s for route in pareto)
    assert fastest.fill_time_s <= least
    best = sorted((each.net_amount for each in pareto if each.fill_time_s == least), reverse=not bought)[0]
    ratio = fastest.net_amount / best
    assert (ratio < 1 + NOISE) if bought else (ratio > 1 - NOISE)
    assert result.certificate.scope.endswith(f"_within_{fastest.fill_time_s}_s")
    single = sandbox.find_routes(replace(request, order="fastest", max_splits=1)).best()
    assert single.fill_time_s == fastest.fill_time_s
    assert (single.net_amount > fastest.net_amount) is bought or single == fastest


def test_an_amount_that_no_path_takes_is_divided_over_the_fastest() -> None:
    router = Router(Snapshot(market_of(LANES)))
    request = RouteRequest(token_in=token("A@1"), token_out=token("A@10"), amount=1_500 * 10**18, order="fastest")
    for target in ("A@10", "B@10"):
        found = router.find_routes(replace(request, token_out=token(target))).best()
        slow = router.find_routes(replace(request, token_out=token(target), order="cheapest")).best()
        assert {hop.market_id for hop in found.hops if hop.is_bridge} == {"fast", "quick"}
        assert found.fill_time_s < slow.fill_time_s
    without = router.find_routes(request, without=["quick"]).best()
    assert {hop.market_id for hop in without.hops} == {"slow"}
