"""A single path is proven best among all single paths, however loose the prices are that a certificate begins with."""

from __future__ import annotations

from benchmarks.instances import constant_product_market, queries
from benchmarks.measure import gas_price, request_of
from routing_engine import Router
from tests.support.exhaustive import exhaustive
from tests.support.peer_routes import routes_of

PROVEN_BPS = 0.01
SHARE = 0.6
"""Of the answers: routes of several paths are excluded by counting their gas, which is not always as tight."""

DEAR = 300
"""Times the gas at which a pool costs a basis point: nobody pays for a second path then."""


def test_the_best_of_all_single_paths_is_proven() -> None:
    gaps = []
    for seed in range(6):
        router = Router(constant_product_market(tokens=20, pools=60, seed=seed, disagreement=0.02))
        for query in queries(router, 6, (0.001, 0.05), seed=seed):
            price = DEAR * gas_price(router, query)
            request = request_of(query, gas_prices={1: price}, time_budget_ms=600_000)
            result = router.find_routes(request)
            best = max(routes_of(router, request, exhaustive(router, request)), key=lambda route: route.amount_out_net)
            assert result.best().amount_out_net >= best.amount_out_net
            if len(result.best().paths) == 1 and result.certificate and result.certificate.gap_bps is not None:
                gaps.append(result.certificate.gap_bps)
    assert len(gaps) > 30
    assert sum(gap < PROVEN_BPS for gap in gaps) > SHARE * len(gaps)
