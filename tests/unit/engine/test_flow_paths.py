"""The widest paths of all flows: real paths, within the amount, and close to the best of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.search.splits.flow_paths import list_flow_parts
from routing_engine.search.splits.query import Query

AMOUNTS = 10**19, 10**21, 2 * 10**22


class Stopped(Router):
    """A router whose questions are held before anything is searched."""

    def hold(self, request: RouteRequest) -> Query:
        """Return the query of a request."""
        return self._start_query(request)


@pytest.fixture(scope="module")
def router() -> Stopped:
    return Stopped(Snapshot.sandbox())


def _ask(router: Stopped, amount: int, **choice: Any) -> tuple[Any, Any]:
    query = router.hold(RouteRequest(token_in="WETH@1", token_out="USDC@8453", amount=amount, **choice))
    return query, query.create_splitter(query.allowed, query.request.max_hops)


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("hops", [2, 3, 5])
def test_paths_of_flows_lead_from_the_start_to_the_end(router: Stopped, amount: int, hops: int) -> None:
    _, splitter = _ask(router, amount, max_hops=hops, max_splits=20)
    parts, problem = list_flow_parts(splitter, float(amount), 1.0), splitter.problem
    others = problem.graph.forward.edges["other"]
    assert 1 <= len(parts) <= 20
    assert sum(part for _, part in parts) == pytest.approx(amount)
    assert len({tuple(edges) for edges, _ in parts}) == len(parts)
    for edges, part in parts:
        tokens = [problem.start, *(int(others[edge]) for edge in edges)]
        sources = [int(problem.graph.source[edge]) for edge in edges]
        assert part > 0
        assert len(edges) <= hops
        assert tokens[:-1] == sources
        assert tokens[-1] == problem.end
        assert len({*tokens}) == len(tokens)


@pytest.mark.parametrize("amount", AMOUNTS)
def test_they_net_nearly_what_the_whole_search_finds(router: Stopped, amount: int) -> None:
    _, splitter = _ask(router, amount)
    parts = list_flow_parts(splitter, float(amount), 1.0)
    found = router.find_routes(RouteRequest(token_in="WETH@1", token_out="USDC@8453", amount=amount)).best()
    begun = splitter.improve(parts, longer=True)
    assert begun.net >= found.amount_out_net * (1 - 1e-3)
    assert begun.net <= begun.bound


def test_there_are_none_where_nothing_leads_to_the_end(router: Stopped) -> None:
    query, _ = _ask(router, 10**18)
    nothing = query.create_splitter(np.zeros_like(query.allowed), 3)
    assert list_flow_parts(nothing, 1e18, 1.0) == []
