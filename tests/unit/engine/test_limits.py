"""What a caller can limit: price impact, time, and how long to listen to a stream."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count, pairwise
from typing import Any

import pytest

from routing_engine import (
    InvalidRequest,
    PriceImpactTooHigh,
    Router,
    RouteRequest,
    RouteResult,
    SearchEnded,
    Snapshot,
    Status,
)
from tests.support.markets import market_of, random_markets, token

PARALLEL = "deep: A B 10000 10000 30bps\nshallow: A B 1000 1000 5bps\nthird: A B 100 100 30bps"
LADDER = """
    ac: A C 100 100 30bps
    ab: A B 1000 1000 30bps
    bc: B C 1000 1000 30bps
    ad: A D 9000 9000 5bps
    de: D E 9000 9000 5bps
    ec: E C 9000 9000 5bps
"""
UNIT = 10**18


def stopping_after(calls: int) -> Callable[[], float]:
    """Return a clock that stands still for some calls, and then shows a day later."""
    ticks = count()
    return lambda: 0.0 if next(ticks) < calls else 86_400.0


def test_a_route_of_too_much_impact_is_refused_with_the_least_there_is() -> None:
    router = Router(Snapshot(market_of(PARALLEL)))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=100 * UNIT, max_splits=1)
    free = router.find_routes(request).best()
    result = router.find_routes(replace(request, max_price_impact_bps=50))
    assert (result.status, result.routes) == (Status.PRICE_IMPACT_TOO_HIGH, ())
    assert result.refused[0] == free
    assert {hop.market_id for route in result.refused for hop in route.hops} == {"deep", "shallow", "third"}
    least = min(route.price_impact for route in result.refused) * 10_000
    with pytest.raises(PriceImpactTooHigh, match=rf"loses {least:.1f} bps or more .* 50 are allowed; trade less"):
        result.best()
    assert router.find_routes(replace(request, max_price_impact_bps=100)).best() == free


def test_a_division_or_a_deeper_market_may_stay_within_the_impact() -> None:
    router = Router(Snapshot(market_of(PARALLEL)))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=100 * UNIT)
    divided = router.find_routes(request).best()
    assert 70 < divided.price_impact * 10_000 < 95
    assert router.find_routes(replace(request, max_price_impact_bps=95)).best() == divided
    # Of the single paths the cheap shallow pool gives most to a small trade, and the deep one loses least.
    small = replace(request, amount=2 * UNIT, max_splits=1)
    assert [hop.market_id for hop in router.find_routes(small).best().hops] == ["shallow"]
    deep = router.find_routes(replace(small, max_price_impact_bps=5))
    assert deep.status is Status.FOUND
    assert [[hop.market_id for hop in route.hops] for route in deep.routes] == [["deep"]]
    with_others = router.find_routes(replace(request, max_price_impact_bps=95, alternatives=5))
    assert all(route.price_impact <= 0.0095 for route in with_others.routes)


def test_without_time_the_answer_is_the_best_single_path() -> None:
    snapshot = Snapshot(market_of(PARALLEL))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=500 * UNIT, alternatives=2)
    whole = Router(snapshot, clock=stopping_after(10**9)).find_routes(request)
    assert whole.is_complete
    assert (len(whole.best().hops), len(whole.routes)) == (3, 3)
    cut = Router(snapshot, clock=stopping_after(1)).find_routes(request)
    assert not cut.is_complete
    assert cut.routes == Router(snapshot).find_routes(replace(request, max_splits=1, alternatives=0)).routes


def test_what_time_was_too_short_for_is_not_said_to_be_too_much() -> None:
    """Each of four pools gives under a thousand, so that only a division serves the amount."""
    snapshot = Snapshot(market_of("\n".join(f"ab{number}: A B 1000 1000 30bps" for number in range(4))))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=3_500 * UNIT, side="exact_out")
    assert Router(snapshot, clock=stopping_after(10**9)).find_routes(request).routes
    cut = Router(snapshot, clock=stopping_after(1)).find_routes(request)
    assert (cut.status, cut.is_complete) == (Status.SEARCH_ENDED, False)
    with pytest.raises(SearchEnded, match=r"ended with its budget.* raise time_budget_ms"):
        cut.best()
    beyond = Router(snapshot, clock=stopping_after(1)).find_routes(replace(request, amount=4_100 * UNIT))
    assert beyond.status is Status.INSUFFICIENT_LIQUIDITY


def test_the_budget_is_counted_from_the_call_in_milliseconds() -> None:
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=500 * UNIT)
    snapshot = Snapshot(market_of(PARALLEL))
    for budget, is_complete in ((2, False), (30, True)):
        times = iter([5.0])
        router = Router(snapshot, clock=partial(next, times, 5.0029))
        assert router.find_routes(replace(request, time_budget_ms=budget)).is_complete is is_complete


def test_pareto_sets_end_with_the_budget() -> None:
    lanes = "\n".join(f"lane{n}: A@1 > A@10 {n}bps {1000 // n}s" for n in range(1, 9))
    snapshot = Snapshot(market_of(lanes))
    request = RouteRequest(token_in=token("A"), token_out=token("A@10"), amount=UNIT)
    whole, cut = (Router(snapshot, clock=stopping_after(n)).find_pareto_set(request) for n in (10**9, 6))
    assert (len(whole.routes), whole.is_complete) == (8, True)
    assert 1 <= len(cut.routes) < 8
    assert not cut.is_complete


def streamed(router: Router, request: RouteRequest) -> list[RouteResult]:
    results = list(router.stream(request))
    ranks = [
        request.objective.rank(
            result.best().net_amount, result.best().fill_time_s, exact_out=request.side == "exact_out"
        )
        for result in results
        if result.routes
    ]
    assert all(later <= earlier for earlier, later in pairwise(ranks))
    return results


def test_a_stream_begins_with_single_paths_and_improves_to_the_final_answer() -> None:
    router = Router(Snapshot(market_of(LADDER)))
    request = RouteRequest(token_in=token("A"), token_out=token("C"), amount=100 * UNIT, alternatives=2)
    results = streamed(router, request)
    assert [len(result.best().hops) for result in results[:-1]] == [1, 2, 3]
    assert len(results[-1].best().paths) > 1
    assert results[-1] == router.find_routes(request)


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_streams_on_random_markets_end_with_what_a_single_call_finds(side: str) -> None:
    for seed in range(40):
        rng = random.Random(f"{seed}{side}")
        router = Router(Snapshot(random_markets(rng), gas_prices={1: 10**9, 10: 10**7}))
        tokens = sorted(router.graph.tokens, key=str)
        if len(tokens) < 2:
            continue
        token_in, token_out = rng.sample(tokens, 2)
        request = RouteRequest(
            token_in=token_in, token_out=token_out, amount=int(10 ** rng.uniform(0, 4) * 10**token_in.decimals),
            side=side, order=rng.choice(("cheapest", "fastest", "balanced")), alternatives=rng.choice((0, 3)),
        )  # fmt: skip
        assert streamed(router, request)[-1] == router.find_routes(request), seed


def test_a_stream_ends_with_its_budget_and_says_so() -> None:
    snapshot = Snapshot(market_of(LADDER))
    request = RouteRequest(token_in=token("A"), token_out=token("C"), amount=100 * UNIT)
    lengths = []
    for calls in range(1, 6):
        results = streamed(Router(snapshot, clock=stopping_after(calls)), request)
        assert results[0].routes
        lengths.append(len(results))
        assert not results[-1].is_complete
    assert lengths[0] == 2  # the path of one hop, and that there is no time for more
    assert lengths == sorted(lengths)


def test_a_stream_can_be_left_at_any_time() -> None:
    router = Router(Snapshot(market_of(LADDER)))
    request = RouteRequest(token_in=token("A"), token_out=token("C"), amount=100 * UNIT)
    expected = router.find_routes(request)
    for listened in range(1, 4):
        stream = router.stream(request)
        for _ in range(listened):
            next(stream)
        stream.close()
        assert router.find_routes(request) == expected


def test_a_stream_without_a_route_says_why_once() -> None:
    router = Router(Snapshot(market_of(f"{LADDER}\nyz: Y Z 1000 1000 30bps")))
    request = RouteRequest(token_in=token("A"), token_out=token("Z"), amount=1)
    (result,) = router.stream(request)
    assert result == router.find_routes(request)
    assert result.status is Status.NO_ROUTE


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_price_impact_bps", -1),
        ("max_price_impact_bps", True),
        ("max_price_impact_bps", "5"),
        ("max_price_impact_bps", float("nan")),
        ("time_budget_ms", 0),
        ("time_budget_ms", 1.5),
        ("time_budget_ms", 600_001),
        ("certify", 1),
        ("certify", None),
    ],
)
def test_limits_out_of_bounds_name_the_field(field: str, value: Any) -> None:
    with pytest.raises(InvalidRequest) as caught:
        RouteRequest(token_in=token("A"), token_out=token("B"), amount=1, **{field: value})
    assert caught.value.field == field
