"""One market and one set of queries for all measurements of a run."""

from __future__ import annotations

import random

import pytest

from benchmarks.instances import constant_product_market
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.warm import warm_up

QUERIES = 40


@pytest.fixture(scope="session")
def snapshot() -> Snapshot:
    """Five thousand tokens, twenty thousand pools."""
    return constant_product_market()


@pytest.fixture(scope="session")
def router(snapshot: Snapshot) -> Router:
    """A warm router over it."""
    warm_up()
    return Router(snapshot)


@pytest.fixture(scope="session")
def requests(router: Router) -> list[RouteRequest]:
    """Random pairs, each with 0.1 % of its input token's deepest reserve."""
    rng = random.Random(7)
    deepest: dict[str, int] = {}
    for market in router.graph.markets:
        for token, reserve in zip(market.tokens, (market.reserve0, market.reserve1), strict=True):
            deepest[token.key] = max(deepest.get(token.key, 0), reserve)
    pairs = [rng.sample(router.graph.tokens, 2) for _ in range(QUERIES)]
    return [
        RouteRequest(token_in=a, token_out=b, amount=deepest[a.key] // 1000, max_hops=3, max_splits=1) for a, b in pairs
    ]
