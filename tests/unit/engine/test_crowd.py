"""Where more paths would add than may be used, those that come first are not those that stay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.instances import constant_product_market, queries
from benchmarks.measure import request_of
from routing_engine import Router, RouteRequest, RouteResult
from routing_engine.search.sales import crowd
from routing_engine.search.splits import split

ROUTER = Router(constant_product_market(tokens=200, pools=2_000))
ASKED = [request_of(query, gas_prices={1: 0}) for query in queries(ROUTER, 10, (0.01, 0.05))]
OPEN = ASKED[7]
"""One that gives more over the largest of more paths, and was begun anew in many ways."""


def answer(monkeypatch: pytest.MonkeyPatch, edges: int, request: RouteRequest) -> RouteResult:
    """Answer as if crowds formed in markets of more than so many edges."""
    monkeypatch.setattr(crowd, "MANY_EDGES", edges)
    return ROUTER.find_routes(request)


def prove(result: RouteResult) -> float:
    """Return what is proven that no route gives."""
    certificate = result.certificate
    assert certificate is not None
    assert certificate.gap_bps is not None
    return result.best().amount_out_net * (1.0 + certificate.gap_bps / 1e4)


def test_the_largest_of_more_paths_than_may_be_used_give_more(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(crowd, "OPEN", 1.0)
        before = answer(patch, 10**9, OPEN)
    now = answer(monkeypatch, 0, OPEN)
    assert now.best().amount_out_net > before.best().amount_out_net * (1.0 + 6e-5)
    assert min(prove(now), prove(before)) >= now.best().amount_out_net


def test_a_crowd_that_has_not_formed_is_widened_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = answer(monkeypatch, 10**9, OPEN)
    monkeypatch.setattr(crowd, "OPEN", 1.0)
    before = answer(monkeypatch, 10**9, OPEN)
    assert now.best().amount_out_net > before.best().amount_out_net * (1.0 + 3e-5)


def test_what_stays_open_is_not_begun_anew_in_many_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, kernel = [0], split._generate_columns

    def count(*given: object) -> object:
        counts[-1] += 1
        return kernel(*given)

    monkeypatch.setattr(split, "_generate_columns", count)
    before = answer(monkeypatch, 10**9, OPEN)
    counts.append(0)
    now = answer(monkeypatch, 0, OPEN)
    assert counts[1] * 2 < counts[0]
    assert now.best().amount_out_net >= before.best().amount_out_net
    assert min(prove(now), prove(before)) >= now.best().amount_out_net


@pytest.mark.parametrize(
    "change",
    [
        {"max_splits": 99},
        {"gas_prices": {1: 10**13}},
        {"amount": OPEN.amount // 1_000},
        {"amount": OPEN.amount * 100},
    ],
    ids=["fewer paths", "gas", "a small amount", "a stretched one"],
)
def test_other_requests_are_answered_as_in_small_markets(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, object]
) -> None:
    request = replace(OPEN, **change)  # type: ignore[arg-type]
    before, now = answer(monkeypatch, 10**9, request), answer(monkeypatch, 0, request)
    assert now.best() == before.best()
    assert now.certificate == before.certificate
