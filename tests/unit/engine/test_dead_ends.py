"""What was tried in vain for one request, or proves nothing, is not done again."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.kernels.bound import branching
from routing_engine.kernels.split import dead_ends
from routing_engine.search.allocations.allocation import Allocation, choose_better
from routing_engine.search.paths import known
from routing_engine.search.paths.single import Single
from routing_engine.search.purchases import buying
from routing_engine.search.purchases.bought import Bought

SANDBOX = Router(Snapshot.sandbox())
PARTS = [([0], 1.0), ([1], 1.0)]


def _begin_twice(source: str) -> tuple[list[float], int]:
    """Divide 100,000 dollars from the best path, then over what that found; return nets, and the work of the latter."""
    sold = SANDBOX.snapshot.token(source)
    asked = RouteRequest(
        token_in=sold, token_out=SANDBOX.snapshot.token("WETH@1"), amount=10 ** (5 + sold.decimals), time_budget_ms=None
    )
    query = SANDBOX._start_query(asked)
    single = cast(Single, query.find_single(query.allowed, 4))
    splitter = query.create_splitter(query.allowed, len(single.edges))
    first = splitter.improve([single.get_part()], is_judged=False)
    before = query.budget.work.item(0)
    equal = [(edges, first.amount / first.count) for edges, _ in first.list_parts()]
    second = splitter.improve(equal, is_judged=False)
    return [first.net, second.net], before - query.budget.work.item(0)


@pytest.mark.parametrize("source", ["USDC@1", "DAI@1"])
def test_a_search_ends_where_one_has_ended(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nets, work = _begin_twice(source)
    monkeypatch.setattr(known, "ENDS", 0)
    expected, more = _begin_twice(source)
    assert nets == expected
    assert 0 < 2 * work < more


def test_a_mark_is_of_paths_and_not_of_their_order() -> None:
    mark = getattr(dead_ends.mark_paths, "py_func", dead_ends.mark_paths)
    one, other, third = [4, 7, -1], [7, 4, -1], [4, -1, -1]
    with np.errstate(over="ignore"):
        marks = {
            tuple(map(tuple, rows)): mark(np.array(rows, np.int32), len(rows))
            for rows in ([one, third], [third, one], [one], [other], [other, third], [one, one])
        }
    found = [int(each) for each in marks.values()]
    assert found[0] == found[1]
    assert len(set(found)) == len(found) - 1


@pytest.mark.parametrize(("net", "is_judged"), [(100.0005, True), (100.1, False)])
def test_a_close_look_is_one_at_what_nets_hardly_more(net: float, is_judged: bool) -> None:
    looked_at = replace(
        Allocation.from_parts(PARTS, 2, 4), net=100.0, bound=100.2, flow_bound=100.2, max_hops=4, is_judged=True
    )
    better = choose_better(looked_at, replace(looked_at, net=net, bound=100.3, is_judged=False))
    assert (better.net, better.bound, better.is_judged) == (net, 100.2, is_judged)


@pytest.mark.parametrize(
    ("work", "gap", "is_over"),
    [(300_000, 5e-4, False), (400_000, 5e-4, True), (400_000, 4.9e-4, False), (1_000_000, 4e-4, True)],
)
def test_decisions_end_where_none_has_helped(work: int, gap: float, is_over: bool) -> None:
    ask = getattr(branching._is_over, "py_func", branching._is_over)
    assert ask(64, work, gap, 5e-4) == is_over


@pytest.mark.parametrize(("count", "needed", "sales"), [(3, 99.0, 0), (40, 99.0, 1), (3, 80.0, 1)])
def test_a_like_input_is_sold_again_only_for_many_paths(
    count: int, needed: float, sales: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sold: list[float] = []
    monkeypatch.setattr(buying, "sell", lambda query, allowed, amount: sold.append(amount))
    purchase: Any = object.__new__(buying.Purchase)
    purchase._query = purchase._allowed = None
    purchase._open, purchase._splitter = 1e-3, SimpleNamespace(is_over=False)
    purchase._basket = SimpleNamespace(match=lambda allocation, amount: None)
    allocation = SimpleNamespace(count=count)
    purchase._sell_again(Bought(cast(Any, allocation), cast(Any, SimpleNamespace(amount=needed)), 1.0, 100.0))
    assert sold == [needed] * sales
