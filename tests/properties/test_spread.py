"""Amounts that no single path takes: divided where paths together can, refused where they cannot."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from routing_engine import Route, Router, RouteRequest, Snapshot, Status
from routing_engine.search import certified_split
from routing_engine.search.sales.full_paths import bound_amount
from tests.support.markets import market_of, token
from tests.support.mixed import DOLLARS, GAS_PRICES, mixed_markets

UNIT = 10**18


def books(route: Route) -> None:
    """Check that hops spend what is there, all of it."""
    have = {route.token_in: route.amount_in}
    for hop in route.hops:
        assert have.get(hop.token_in, 0) >= hop.amount_in > 0
        have[hop.token_in] -= hop.amount_in
        have[hop.token_out] = have.get(hop.token_out, 0) + hop.amount_out
    assert have.pop(route.token_out) == route.amount_out
    assert set(have.values()) == {0}


def capped_lanes(rng: random.Random, count: int) -> tuple[str, int]:
    """Return lanes from A to A@10 with different fees, times and maximums, and what they take together."""
    most = [rng.randint(1, 50) for _ in range(count)]
    text = "\n".join(
        f"lane{n}: A@1 > A@10 max={cap} {rng.randrange(50)}bps {rng.randrange(900)}s" for n, cap in enumerate(most)
    )
    return text, sum(most)


@pytest.mark.parametrize("pool", ["", "\nab: B A 100000 100000 30bps"])
@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_what_paths_take_together_is_taken(side: str, pool: str) -> None:
    for seed in range(60):
        rng = random.Random(f"{seed}{side}{pool}")
        text, total = capped_lanes(rng, rng.randint(2, 7))
        snapshot = Snapshot(market_of(text + pool))
        amount = int(rng.uniform(0.55, 0.9) * total * UNIT)
        request = RouteRequest(
            token_in=token("B" if pool else "A"), token_out=token("A@10"), amount=amount, side=side
        )  # fmt: skip
        result = Router(snapshot).find_routes(request)
        assert result.status is Status.FOUND, (seed, text, amount)
        best = result.best()
        books(best)
        if side == "exact_in":
            assert best.amount_in == amount
        else:
            assert best.amount_out >= amount
        for hop in best.hops:
            assert snapshot.markets[hop.market_id].swap_exact_in(hop.token_in, hop.token_out, hop.amount_in)[0] == hop


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_what_they_cannot_take_is_refused_with_reasons(side: str) -> None:
    for seed in range(20):
        text, total = capped_lanes(random.Random(seed), 3)
        router = Router(Snapshot(market_of(text)))
        request = RouteRequest(token_in=token("A"), token_out=token("A@10"), amount=(total + 1) * UNIT, side=side)
        result = router.find_routes(request)
        assert result.status is Status.INSUFFICIENT_LIQUIDITY
        assert len(result.unavailable) == 3


def test_no_split_is_looked_for_where_what_comes_through_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last pool is deep, but the one before it can't give it more than ten."""

    def fail(*_: object) -> None:
        pytest.fail("a split was looked for")

    router = Router(Snapshot(market_of("ab: A B 10 10 30bps\nbc: B C 1000 1000 30bps\nac: A C 5 5 30bps")))
    request = RouteRequest(token_in=token("A"), token_out=token("C"), amount=14 * UNIT, side="exact_out")
    assert router.find_routes(request).status is Status.FOUND  # of the 14.8 that there are at most
    monkeypatch.setattr(certified_split, "_divide_beyond_paths", fail)
    assert router.find_routes(replace(request, amount=15 * UNIT)).status is Status.INSUFFICIENT_LIQUIDITY


@pytest.mark.parametrize("seed", range(30))
def test_nothing_gives_more_than_what_can_be_bought_at_most(seed: int) -> None:
    rng = random.Random(f"bought {seed}")
    markets = Snapshot(mixed_markets(rng), gas_prices=GAS_PRICES)
    router, tokens = Router(markets), sorted(markets.tokens, key=str)
    for _ in range(3):
        token_in, token_out = rng.sample(tokens, 2)
        request = RouteRequest(
            token_in=token_in, token_out=token_out, amount=int(10 ** rng.uniform(4, 40)), max_hops=rng.randint(1, 5)
        )
        sold = router.find_routes(request)
        if sold.routes:
            query = router._start_query(replace(request, side="exact_out"))
            assert bound_amount(query, query.allowed) >= sold.best().amount_out


def test_who_asks_for_one_path_gets_none() -> None:
    router = Router(Snapshot(market_of("one: A@1 > A@10 max=5\ntwo: A@1 > A@10 max=5")))
    request = RouteRequest(token_in=token("A"), token_out=token("A@10"), amount=9 * UNIT)
    assert len(router.find_routes(request).best().hops) == 2
    alone = router.find_routes(replace(request, max_splits=1))
    assert alone.status is Status.INSUFFICIENT_LIQUIDITY
    three = Router(Snapshot(market_of("\n".join(f"l{n}: A@1 > A@10 max=4" for n in range(3)))))
    assert len(three.find_routes(request).best().hops) == 3
    assert three.find_routes(replace(request, max_splits=2)).status is Status.INSUFFICIENT_LIQUIDITY


def test_streams_and_pareto_sets_divide_too() -> None:
    text = "slow: A@1 > A@10 max=5 900s\nmid: A@1 > A@10 max=5 20bps 300s\nfast: A@1 > A@10 max=5 90bps 5s"
    router = Router(Snapshot(market_of(text)))
    request = RouteRequest(token_in=token("A"), token_out=token("A@10"), amount=8 * UNIT)
    (streamed,) = router.stream(request)
    assert streamed == router.find_routes(request)
    front = router.find_pareto_set(request).routes
    assert [sorted(hop.market_id for hop in route.hops) for route in front[-1:]] == [["fast", "mid"]]
    assert [route.fill_time_s for route in front] == sorted((route.fill_time_s for route in front), reverse=True)


def test_an_end_of_time_ends_the_search_for_parts() -> None:
    ticks = iter([0.0])
    router = Router(
        Snapshot(market_of("one: A@1 > A@10 max=5\ntwo: A@1 > A@10 max=5")), clock=lambda: next(ticks, 1e6)
    )  # fmt: skip
    request = RouteRequest(token_in=token("A"), token_out=token("A@10"), amount=9 * UNIT)
    result = router.find_routes(request)
    assert (result.status, result.is_complete) == (Status.SEARCH_ENDED, False)


def test_what_is_far_beyond_all_there_is_is_divided_as_well() -> None:
    """Nearly all is lost whatever happens, but two pools have twice as much as one."""
    router = Router(Snapshot(market_of("one: A B 1000 1000 30bps\ntwo: A B 1000 1000 30bps")))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=10**8 * UNIT)
    hopeless, large = router.find_routes(request), router.find_routes(replace(request, amount=10**5 * UNIT))
    assert [len(result.best().paths) for result in (hopeless, large)] == [2, 2]
    alone = router.find_routes(replace(request, max_splits=1)).best()
    assert alone.price_impact > 0.9999 > large.best().price_impact
    assert hopeless.best().amount_out > 1.999 * alone.amount_out
    assert hopeless.certificate is not None
    assert hopeless.certificate.gap_bps is not None


def test_more_than_there_is_gives_no_less_over_long_paths() -> None:
    """Two ways of four pools each: before, only one was taken from ten million on, as it has no path of three hops."""
    hops = "{0}1: A {0}B 1000 1000 30bps", "{0}2: {0}B {0}C 1000 1000 30bps", "{0}3: {0}C {0}D 1000 1000 30bps"
    way = "\n".join((*hops, "{0}4: {0}D E 1000 1000 30bps\n"))
    router = Router(Snapshot(market_of(way.format("X") + way.format("Y"))))
    request, most = RouteRequest(token_in=token("A"), token_out=token("E"), amount=UNIT), 0
    for amount in (10**5, 10**6, 10**7, 10**8, 10**12):
        best = router.find_routes(replace(request, amount=amount * UNIT)).best()
        assert best.amount_out_net >= most
        most = best.amount_out_net
        assert len(best.paths) == 2


def test_more_than_there_is_gives_no_less_where_markets_are_full() -> None:
    """Of ten billion dollars a quarter was given of what a hundred million bring, as one path had to take them all."""
    rng = random.Random("more 44")
    markets = Snapshot(mixed_markets(rng), gas_prices=GAS_PRICES)
    token_in, token_out = rng.sample(sorted(markets.tokens, key=str), 2)
    router, most = Router(markets), 0
    for dollars in (10**8, 10**10, 10**11, 10**13):
        amount = int(dollars / DOLLARS[token_in] * 10**token_in.decimals)
        best = router.find_routes(RouteRequest(token_in=token_in, token_out=token_out, amount=amount)).best()
        assert best.amount_out_net >= most * (1 - 1e-6)
        most = best.amount_out_net
