"""Money against time: Pareto sets are undominated and complete, and a value of time chooses from them."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_engine import InvalidRequest, NoRoute, Route, Router, RouteRequest, RouteResult, Side, Snapshot
from routing_engine.graph.gas_valuation import Valuation
from routing_engine.market import Market
from routing_engine.markets import BridgeLane, LaneFee
from routing_engine.model import Hop, Token
from routing_engine.search.pareto import ParetoSet
from routing_engine.search.splits.query import Query
from tests.support.markets import brute_force, every_route, market_of, random_markets, token

GAS_PRICES = {1: 20 * 10**9, 10: 10**8}
HERE, THERE = token("A"), token("A@10")


def route(amount: int, seconds: int, side: Side = Side.EXACT_IN) -> Route:
    paid, received = (amount, 1) if side is Side.EXACT_OUT else (1, amount)
    hop = Hop(
        market_id="m", protocol="p", token_in=HERE, token_out=THERE, amount_in=paid, amount_out=received,
        fill_time_s=seconds,
    )  # fmt: skip
    return Route(token_in=HERE, token_out=THERE, side=side, hops=(hop,))


def dominates(one: Route, other: Route) -> bool:
    sign = 1 if one.side is Side.EXACT_OUT else -1
    mine, theirs = ((sign * each.net_amount, each.fill_time_s) for each in (one, other))
    return mine != theirs and mine[0] <= theirs[0] and mine[1] <= theirs[1]


@settings(deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9))), st.sampled_from(Side))
def test_a_pareto_set_is_undominated_and_complete(pairs: list[tuple[int, int]], side: Side) -> None:
    routes = [route(amount, seconds, side) for amount, seconds in pairs]
    found = ParetoSet()
    taken = [found.add(each) for each in routes]
    kept = list(found)
    assert not any(dominates(one, other) for one in kept for other in kept)
    for each, was_taken in zip(routes, taken, strict=True):
        assert was_taken or each not in kept or any(known is not each for known in kept)
        assert any(each == known or dominates(known, each) for known in kept)
    assert [each.fill_time_s for each in kept] == sorted({each.fill_time_s for each in kept})
    assert len(found) == len(kept)


def points(routes: list[Route]) -> set[tuple[int, int]]:
    return {(each.net_amount, each.fill_time_s) for each in routes}


def lanes(rng: random.Random, tokens: list[Token]) -> list[Market]:
    """Return further lanes both ways: the faster, the dearer, mostly."""
    ends = [(a, b) for a in tokens for b in tokens if a.chain_id != b.chain_id and rng.random() < 0.3]
    found: list[Market] = []
    for number, (source, target) in enumerate(ends):
        seconds = rng.choice((5, 60, 300, 900))
        fee = LaneFee(name="fee", rate_e18=int(10**16 / seconds * rng.uniform(0.5, 5)))
        found.append(
            BridgeLane(
                id=f"lane{number}",
                protocol="lane",
                token_in=source,
                token_out=target,
                fees=(fee,),
                max_amount_in=10**40,
                fill_time_s=seconds,
                gas=90_000,
            )
        )
    return found


def check_certificates(found: RouteResult, every: list[Route]) -> None:
    """Check that each route has a certificate, and that no route that is as fast breaks it."""
    slowest = max((each.fill_time_s for each in found.routes), default=0)
    for ours, certificate in zip(found.routes, found.certificates, strict=True):
        scope, within, seconds = certificate.scope.partition("_within_")
        assert scope in {f"routes_up_to_{found.request.max_hops}_hop{'s' * (found.request.max_hops > 1)}", "all_flows"}
        assert seconds == ("" if ours.fill_time_s == slowest else f"{ours.fill_time_s}_s")
        if certificate.gap_bps is None:
            assert certificate.reason
            continue
        gap = certificate.gap_bps / 1e4
        for rival in every:
            if within and rival.fill_time_s > ours.fill_time_s:
                continue
            if ours.side is Side.EXACT_OUT:
                assert rival.net_amount >= ours.net_amount * (1 - gap) * (1 - 1e-9)
            else:
                assert rival.net_amount <= ours.net_amount / (1 - gap) * (1 + 1e-9)


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_every_trade_off_of_small_markets_is_found(side: str) -> None:
    sizes, proven = [], 0
    for seed in range(80):
        rng = random.Random(f"{side}{seed}")
        markets = random_markets(rng)
        tokens = sorted({each for market in markets for each in market.tokens}, key=str)
        markets += lanes(rng, tokens)
        router = Router(Snapshot(markets, gas_prices=GAS_PRICES if rng.random() < 0.7 else {}))
        near, far = ([each for each in tokens if each.chain_id == chain] for chain in (1, 10))
        if not near or not far:
            continue
        token_in, token_out = rng.choice(near), rng.choice(far)
        fixed = token_in if side == "exact_in" else token_out
        request = RouteRequest(
            token_in=token_in, token_out=token_out, amount=int(10 ** rng.uniform(-1, 4) * 10**fixed.decimals),
            side=side, max_hops=rng.randint(1, 4), max_splits=1,
        )  # fmt: skip
        every = every_route(markets, request, Valuation(router.graph, router.snapshot.gas_prices))
        expected = [one for one in every if not any(dominates(other, one) for other in every)]
        found = router.find_pareto_set(request)
        assert points(list(found.routes)) == points(expected), seed
        check_certificates(found, every)
        proven += sum(each.gap_bps is not None for each in found.certificates)
        sizes.append(len(found.routes))
        if found.routes:
            assert found.best() == min(
                found.routes, key=lambda each: (-1 if side == "exact_in" else 1) * each.net_amount
            )
    assert proven > 0.8 * sum(sizes)
    assert sizes.count(1) > 5
    assert sum(size > 1 for size in sizes) > 15
    assert max(sizes) >= 4


def test_divisions_stand_beside_single_paths() -> None:
    text = "ab1: A B 1000 1000 30bps\nab2: A B 1000 1000 30bps\nslow: B@1 > B@10 900s\nfast: B@1 > B@10 100bps 5s"
    router = Router(Snapshot(market_of(f"{text}\nyz: Y Z 1000 1000 30bps")))
    request = RouteRequest(token_in=token("A"), token_out=token("B@10"), amount=300 * 10**18)
    by_money, by_time = router.find_pareto_set(request), router.find_pareto_set(replace(request, order="fastest"))
    assert [[hop.market_id for hop in each.hops] for each in by_money.routes] == [
        ["ab1", "ab2", "slow"], ["ab1", "ab2", "fast"],
    ]  # fmt: skip
    assert by_time.routes == by_money.routes[::-1]
    assert by_money.best() == router.find_routes(request).best()
    with pytest.raises(NoRoute):
        router.find_pareto_set(replace(request, token_out=token("Z"))).best()


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_any_value_of_time_chooses_a_trade_off(side: str) -> None:
    compared = 0
    for seed in range(60):
        rng = random.Random(f"{seed}{side}")
        markets = random_markets(rng)
        router = Router(Snapshot(markets, gas_prices=GAS_PRICES))
        tokens = sorted(router.graph.tokens, key=str)
        if len(tokens) < 2:
            continue
        token_in, token_out = rng.sample(tokens, 2)
        fixed = token_in if side == "exact_in" else token_out
        request = RouteRequest(
            token_in=token_in, token_out=token_out, amount=int(10 ** rng.uniform(-1, 3) * 10**fixed.decimals),
            side=side, max_splits=1, value_of_time=10 ** rng.uniform(0, 3.5),
        )  # fmt: skip
        expected = brute_force(markets, request, Valuation(router.graph, router.snapshot.gas_prices))
        found = router.find_routes(request).routes
        assert bool(found) == (expected is not None)
        if expected is None:
            continue
        compared += 1
        assert (found[0].net_amount, found[0].fill_time_s) == (expected.net_amount, expected.fill_time_s), seed
        front = router.find_pareto_set(request).routes
        assert (found[0].net_amount, found[0].fill_time_s) in points(list(front))
    assert compared > 25


def test_an_order_is_a_value_of_time() -> None:
    text = "slow: A@1 > A@10 900s\nfast: A@1 > A@10 10bps 5s"
    router = Router(Snapshot(market_of(text)))
    request = RouteRequest(token_in=HERE, token_out=THERE, amount=10**20)

    def chosen(**changes: Any) -> str:
        return router.find_routes(replace(request, **changes)).best().hops[0].market_id

    assert chosen(value_of_time=0.0) == chosen(order="cheapest") == "slow"
    # 10 bps for 895 seconds saved is 40.2 bps for an hour.
    assert (chosen(value_of_time=40), chosen(value_of_time=41)) == ("slow", "fast")
    assert chosen(order="balanced") == chosen(value_of_time=60) == "fast"
    assert chosen(order="balanced", value_of_time=1) == "slow"
    for field, wrong in (("value_of_time", -1), ("value_of_time", 10_001), ("value_of_time", float("nan"))):
        with pytest.raises(InvalidRequest, match=field):
            replace(request, **{field: wrong})
    with pytest.raises(InvalidRequest, match="time comes first"):
        replace(request, order="fastest", value_of_time=5)


def test_a_spent_budget_is_the_reason_why_a_pareto_set_is_not_judged() -> None:
    text = "slow: A@1 > A@10 900s\nfast: A@1 > A@10 100bps 5s"
    clock = iter([0.0, *[86_400.0] * 100])
    router = Router(Snapshot(market_of(text)), clock=lambda: next(clock))
    found = router.find_pareto_set(RouteRequest(token_in=HERE, token_out=THERE, amount=10**18))
    assert not found.is_complete
    assert [each.gap_bps for each in found.certificates] == [None] * len(found.routes)
    assert all("budget of time" in each.reason for each in found.certificates)


@pytest.mark.parametrize("seed", range(25))
def test_bridges_over_several_chains_are_not_tried_in_every_combination(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What no faster path can use is left out at once."""
    rng = random.Random(seed)
    ends = [replace(token("A"), chain_id=chain) for chain in (1, 10, 137, 8453)]
    markets: list[Market] = [
        BridgeLane(
            id=f"{one.chain_id}-{other.chain_id}/{number}",
            protocol="lane",
            token_in=one,
            token_out=other,
            fees=(LaneFee(name="fee", rate_e18=rng.randint(0, 2 * 10**15)),),
            fill_time_s=rng.choice((1, 5, 20, 60, 300, 900)),
            gas=90_000,
        )
        for one in ends
        for other in ends
        if one != other
        for number in range(4)
    ]
    request = RouteRequest(token_in=ends[0], token_out=ends[3], amount=10**21, max_hops=3, max_splits=1)
    router, searches = Router(Snapshot(markets, gas_prices=GAS_PRICES)), 0
    find_single = Query.find_single

    def count(self: Query, *arguments: Any) -> Any:
        nonlocal searches
        searches += 1
        return find_single(self, *arguments)

    monkeypatch.setattr(Query, "find_single", count)
    found = router.find_pareto_set(request)
    every = every_route(markets, request, Valuation(router.graph, router.snapshot.gas_prices))
    expected = [one for one in every if not any(dominates(other, one) for other in every)]
    assert points(list(found.routes)) == points(expected)
    assert len(every) == 4 + 2 * 4**2 + 2 * 4**3
    assert searches < 100
    assert found.is_complete


def test_every_pair_of_the_sandbox_is_searched_to_the_end() -> None:
    router = Router(Snapshot.sandbox())
    for ends in (
        ("USDC@10", "WETH@1"),
        ("USDC@8453", "WETH@42161"),
        ("USDC@137", "WBTC@42161"),
        ("USDC@1", "USDC@8453"),
    ):
        token_in, token_out = map(router.snapshot.token, ends)
        for whole in (1, 100, 10_000):
            amount = whole * 10**token_in.decimals
            found = router.find_pareto_set(RouteRequest(token_in=token_in, token_out=token_out, amount=amount))
            assert found.is_complete
            kept = list(found.routes)
            assert not any(dominates(one, other) for one in kept for other in kept)
