"""Divided routes against the conditions that an optimum fulfils, and against a convex solver."""

from __future__ import annotations

import pytest

from benchmarks.instances import CONSISTENT, LOOPS, constant_product_market, queries
from benchmarks.measure import request_of
from benchmarks.peers.convex import TOLERANCE, optimum
from routing_engine import Market, Route, Router, Token

PATIENT_MS = 600_000
SIZES = (0.0001, 0.01, 0.3)

CLOSE = 1e-6
"""Relative difference of marginal prices: flows are whole units, and differences of outputs measure the slopes."""


def slope(market: Market, token_in: Token, token_out: Token, amount: int) -> float:
    """Marginal price of a market at an input, from its own exact answers on both sides."""
    step = max(1, amount // 10**5)
    low, high = (market.swap_exact_in(token_in, token_out, amount + sign * step)[0].amount_out for sign in (-1, 1))
    return (high - low) / (2 * step)


def worths(route: Route, markets: dict[str, Market]) -> dict[Token, float]:
    """What a unit of each token of a route is worth in the token bought, by the hop that says most."""
    worth = {route.token_out: 1.0}
    for hop in reversed(route.hops):
        price = slope(markets[hop.market_id], hop.token_in, hop.token_out, hop.amount_in) * worth[hop.token_out]
        worth[hop.token_in] = max(price, worth.get(hop.token_in, 0.0))
    return worth


@pytest.mark.parametrize("seed", range(6))
def test_marginal_prices_are_equal_and_nothing_unused_is_better(seed: int) -> None:
    """Kuhn–Tucker: from a token, each used market is worth the same, each unused one no more at its first unit.

    Five tokens and four hops, so that every simple path is within the limit; gas is free, and no loop gives.
    """
    router = Router(constant_product_market(tokens=5, pools=9, seed=seed))
    markets = dict(router.snapshot.markets)
    divided = 0
    for query in queries(router, 5, SIZES, seed=seed):
        route = router.find_routes(request_of(query, time_budget_ms=PATIENT_MS)).best()
        divided += len(route.paths) > 1
        worth = worths(route, markets)
        used = {(hop.market_id, hop.token_in): hop for hop in route.hops}
        for hop in route.hops:
            price = slope(markets[hop.market_id], hop.token_in, hop.token_out, hop.amount_in)
            assert price * worth[hop.token_out] == pytest.approx(worth[hop.token_in], rel=CLOSE), (str(route), hop)
        for market in markets.values():
            for token_in, token_out in market.edges():
                if token_in in worth and token_out in worth and (market.id, token_in) not in used:
                    first = market.spot_price(token_in, token_out) * worth[token_out]
                    assert first <= worth[token_in] * (1 + CLOSE), (str(route), market.id)
    assert divided > 4


@pytest.mark.parametrize("disagreement", [CONSISTENT, LOOPS], ids=["prices agree", "loops"])
def test_a_convex_solver_gains_nothing(disagreement: float) -> None:
    """Without gas, on five tokens: the optimum of all flows is never exceeded, and reached where no loop gives."""
    compared = 0
    for seed in range(5):
        router = Router(constant_product_market(tokens=5, pools=9, seed=seed, disagreement=disagreement))
        for query in queries(router, 3, SIZES, seed=seed):
            request = request_of(query, time_budget_ms=PATIENT_MS)
            best = optimum(router, request)
            assert best.solved
            got = router.find_routes(request).best().amount_out
            assert got <= best.amount_out * (1 + TOLERANCE), (seed, query)
            if disagreement == CONSISTENT:
                assert got >= best.amount_out * (1 - TOLERANCE), (seed, query)
            compared += 1
    assert compared == 5 * 3 * len(SIZES)
