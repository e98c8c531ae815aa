"""Edges that routes can use are listed for one certificate and forgotten after it."""

from __future__ import annotations

import random

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.kernels.bound.outlook import UNKNOWN_SCOPE
from tests.support.mixed import GAS_PRICES, mixed_markets


def test_nothing_is_listed_between_requests() -> None:
    rng = random.Random(4)
    router = Router(Snapshot(mixed_markets(rng), gas_prices=GAS_PRICES))
    state = router._search.get_memory().state
    lists, arrivals = state.open_edges, state.arrivals
    for _ in range(6):
        token_in, token_out = rng.sample(router.graph.tokens, 2)
        for gas_prices in (None, dict.fromkeys(GAS_PRICES, 0)):
            lists.listed["max_average_price"].fill(0.0)
            request = RouteRequest(token_in=token_in, token_out=token_out, amount=10**18, gas_prices=gas_prices)
            certificates = router.find_routes(request).certificates
            assert lists.listed["max_average_price"].any() == bool(certificates)
            assert not lists.sizes.any()
            assert not lists.span[:, :, 0].any()
            assert not state.outlook.most.any()
            assert not any(each.any() for each in (arrivals.most, arrivals.counted, arrivals.sizes))
            assert (arrivals.weight == 1.0).all()
            assert state.outlook.scope.tolist() == [*UNKNOWN_SCOPE]
