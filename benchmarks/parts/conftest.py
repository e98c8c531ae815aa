"""One market and one set of queries for all measurements of a run."""

from __future__ import annotations

import pytest

from benchmarks.instances import constant_product_market, queries
from benchmarks.measure import request_of
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.warm_up import warm_up
from tests.support.databases import databases, make_database_url, sqlite_folder

__all__ = ["databases", "make_database_url", "sqlite_folder"]

QUERIES = 40
SIZE = 0.001


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
    """Random pairs, each with 0.1 % of its depth."""
    return [request_of(query, max_hops=3, max_splits=1) for query in queries(router, QUERIES, (SIZE,))]
