"""Amounts that no single path takes: divided where paths together can, refused where they cannot."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from routing_engine import Route, Router, RouteRequest, Snapshot, Status
from tests.support.markets import market_of, token

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
