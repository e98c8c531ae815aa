"""Many requests at once: the same answers as one by one, wherever they are searched."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from routing_engine import InvalidRequest, Router, RouteRequest, Snapshot, Status
from routing_engine.batch.executor import TimedResult, answer_requests
from tests.support.markets import market_of, token

MARKET = """
    ab: A B 1000 2000 30bps
    bc: B C 1000 1000 5bps
    ac: A C 100 190 30bps
    lane: C@1 > C@10 fee=1 10bps 60s
    lone: Y Z 5 5 30bps
"""
UNIT = 10**18


@pytest.fixture
def router() -> Router:
    return Router(Snapshot(market_of(MARKET), gas_prices={1: 10**9, 10: 10**6}))


def columns(router: Router, count: int) -> tuple[list[int], list[int], list[int], list[str]]:
    """Draw requests of which some have no route."""
    rng = random.Random(count)
    pairs = [rng.sample(range(len(router.graph.tokens)), 2) for _ in range(count)]
    amounts = [int(10 ** rng.uniform(0, 3) * UNIT) for _ in pairs]
    sides = [rng.choice(("exact_in", "exact_out")) for _ in pairs]
    return [a for a, _ in pairs], [b for _, b in pairs], amounts, sides


def one_by_one(router: Router, count: int) -> list[Any]:
    tokens = router.graph.tokens
    return [
        router.find_routes(RouteRequest(token_in=tokens[a], token_out=tokens[b], amount=amount, side=side))
        for a, b, amount, side in zip(*columns(router, count), strict=True)
    ]


def test_arrays_hold_what_single_searches_find(router: Router) -> None:
    starts, ends, amounts, sides = columns(router, 60)
    told: list[tuple[int, int]] = []
    quotes = router.quote_many(
        np.array(starts), np.array(ends, np.int32), np.array(amounts, np.object_), side=np.array(sides),
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    expected = one_by_one(router, 60)
    assert quotes.results == tuple(expected)
    assert told == [(done, 60) for done in range(1, 61)]
    assert {str(status) for status in quotes.status} == {"found", "no_route", "insufficient_liquidity"}
    for place, result in enumerate(expected):
        assert quotes.status[place] is result.status
        assert quotes.found[place] == bool(result.routes)
        if result.routes:
            best = result.best()
            assert type(quotes.amount_out[place]) is int
            assert quotes.amount_in[place] == best.amount_in
            assert quotes.amount_out[place] == best.amount_out
            assert quotes.amount_out_net[place] == best.amount_out_net
            assert quotes.amount_in_gross[place] == best.amount_in_gross
            assert quotes.gas[place] == best.gas
        else:
            assert quotes.amount_out[place] == quotes.amount_in[place] == quotes.gas[place] == 0


def test_one_value_stands_for_a_column_and_small_amounts_fit_into_64_bits(router: Router) -> None:
    amounts = np.array([UNIT, 2 * UNIT, 18 * UNIT], np.uint64)
    quotes = router.quote_many(token("A"), token("B"), amounts, max_splits=1, max_hops=1)
    assert quotes.amount_in.tolist() == amounts.tolist()
    assert all(len(result.best().hops) == 1 for result in quotes.results)
    assert list(quotes.amount_out) == sorted(quotes.amount_out)
    alone = router.quote_many([token("A")], 1, UNIT)
    assert alone.amount_out.tolist() == [router.quote_many(token("A"), token("B"), UNIT).amount_out[0]]
    assert router.quote_many([], [], []).results == ()


def test_columns_of_frames_are_columns(router: Router) -> None:
    frame = pd.DataFrame({"sold": ["A@1", "C@1"], "bought": ["C@1", "A@1"], "amount": [UNIT, 2 * UNIT]})
    expected = router.quote_many(["A@1", "C@1"], ["C@1", "A@1"], [UNIT, 2 * UNIT]).amount_out.tolist()
    for table in (frame, pl.from_pandas(frame)):
        assert router.quote_many(table["sold"], table["bought"], table["amount"]).amount_out.tolist() == expected


def test_time_is_measured_by_the_routers_clock() -> None:
    seconds = iter(range(1000))
    router = Router(Snapshot(market_of(MARKET)), clock=lambda: float(next(seconds)))
    quotes = router.quote_many(token("A"), token("B"), [UNIT, UNIT], workers=1)
    assert (quotes.elapsed_ms >= 1000).all()


class Inline(Executor):
    """Runs calls at once, as a single process of its own would, and counts the snapshots that it was sent."""

    def __init__(self) -> None:
        self.snapshots = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.snapshots += any(isinstance(argument, Snapshot) for argument in args)
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_an_executor_gets_the_snapshot_once(router: Router) -> None:
    inline = Inline()
    for count in (50, 30):
        quotes = router.quote_many(
            *columns(router, count)[:3], side=columns(router, count)[3], executor=inline, workers=1
        )
        assert quotes.results == tuple(one_by_one(router, count))
    assert inline.snapshots == 1


def test_processes_and_threads_of_the_caller_give_the_same(router: Router) -> None:
    starts, ends, amounts, sides = columns(router, 40)
    expected = tuple(one_by_one(router, 40))
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawned) as processes, ThreadPoolExecutor(2) as threads:
        for executor in (processes, threads):
            quotes = router.quote_many(starts, ends, amounts, side=sides, executor=executor, workers=2)
            assert quotes.results == expected


def test_a_caller_who_stops_early_leaves_nothing_running(router: Router) -> None:
    asked: list[RouteRequest] = []

    class Watched(Router):
        def find_routes(self, request: RouteRequest) -> Any:
            asked.append(request)
            return super().find_routes(request)

    watched = Watched(router.snapshot)
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=UNIT)
    found: Iterator[TimedResult] = answer_requests(watched, [request] * 1000, workers=1)
    assert len(list(islice(found, 3))) == 3
    found.close()
    assert 3 <= len(asked) < 100


@pytest.mark.parametrize(
    ("field", "arguments", "message"),
    [
        ("token_in", {"token_in": 99}, r"its number below 6, not 99 \(request 0, counted from 0\)"),
        ("token_in", {"token_in": True}, "must be a Token"),
        ("token_out", {"token_out": [1, 1.0, 1]}, r"\(request 1, counted from 0\)"),
        ("token_out", {"token_out": 0}, "same token"),
        ("amount", {"amount": [1, 2, 0]}, r"must be from 1.*\(request 2, counted from 0\)"),
        ("amount", {"amount": np.array([1.5, 2.5])}, "must be an int"),
        ("amount", {"amount": [1, 2], "token_in": [0, 0, 0]}, "has 2 values, but there are 3"),
        ("side", {"side": ["exact_in", "north"]}, r"not 'north' \(request 1, counted from 0\)"),
        ("max_hops", {"max_hops": 9}, "from 1 to 6"),
        ("workers", {"workers": 0}, "at least 1"),
        ("workers", {"workers": "2"}, "at least 1, not '2'"),
        ("executor", {"executor": "threads"}, "an Executor of concurrent.futures, not 'threads'; leave it out"),
    ],
)
def test_bad_columns_name_the_field_and_the_position(
    router: Router, field: str, arguments: dict[str, Any], message: str
) -> None:
    good: dict[str, Any] = {"token_in": 0, "token_out": 1, "amount": UNIT}
    with pytest.raises(InvalidRequest, match=message) as caught:
        router.quote_many(**good | arguments)
    assert caught.value.field == field


def test_a_snapshot_travels_as_a_value() -> None:
    import pickle

    sandbox = Snapshot.sandbox()
    for known in (False, True):
        there = pickle.loads(pickle.dumps(sandbox))
        assert dict(there.markets) == dict(sandbox.markets)
        assert (there.id == sandbox.id, there.gas_prices) == (True, sandbox.gas_prices), known
    assert there.apply(gas_prices={1: 7}).id == sandbox.apply(gas_prices={1: 7}).id


def test_every_status_of_a_result_is_in_the_arrays(router: Router) -> None:
    quotes = router.quote_many(token("A"), [token("Y"), token("B")], [UNIT, 10**60])
    assert list(quotes.status) == [Status.NO_ROUTE, Status.INSUFFICIENT_LIQUIDITY]
    assert np.isnan(quotes.gap_bps).all()


def test_a_table_is_no_column(router: Router) -> None:
    with pytest.raises(InvalidRequest, match=r"^amount: must have one dimension, not shape \(2, 2\)"):
        router.quote_many("A@1", "B@1", np.full((2, 2), 10**6))
