"""Merged flows may be taken apart into paths of more hops than kernels have memory for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine import Route, Router, RouteRequest, Snapshot
from routing_engine.request import MAX_HOPS
from routing_engine.search.allocations.allocation import Allocation


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(Snapshot.sandbox())


@pytest.fixture(scope="module")
def route(router: Router) -> Route:
    """A route that crosses three chains, with a path of more than six markets."""
    request = RouteRequest(token_in="WETH@1", token_out="DAI@10", amount=10**21, certify=False)
    found = router.find_routes(request).best()
    assert max(len(path.hops) for path in found.paths) > MAX_HOPS
    return found


def test_such_a_route_is_certified(router: Router, route: Route) -> None:
    request = RouteRequest(token_in="WETH@1", token_out="DAI@10", amount=10**21)
    query = router._start_query(request)
    certificate = query.certify(route, query.allowed)
    assert certificate.gap_bps is not None
    assert certificate.gap_bps < 5
    (direct,) = router.find_routes(request).certificates
    assert certificate.gap_bps == pytest.approx(direct.gap_bps, abs=1)


def test_where_all_paths_are_long_nothing_is_claimed(router: Router, route: Route) -> None:
    query = router._start_query(RouteRequest(token_in="WETH@1", token_out="DAI@10", amount=10**21))
    long = next(path for path in route.paths if len(path.hops) > MAX_HOPS)
    certificate = query.certify(replace(route, hops=long.hops), query.allowed)
    assert certificate.gap_bps is None
    assert "longer than those that are searched" in certificate.reason


def test_kernels_are_never_given_longer_paths() -> None:
    with pytest.raises(ValueError, match="7 hops"):
        Allocation.from_parts([(range(7), 1.0)], 2, 7)
