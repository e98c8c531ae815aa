"""Narrow searches for single paths leave out much, but none that is the best of its number of hops."""

from __future__ import annotations

import random
from math import inf

import numpy as np
import pytest

from benchmarks.instances import LOOPS, constant_product_market
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.kernels.search.beam import LARGE
from routing_engine.request import MAX_HOPS
from routing_engine.search.paths.path_search import Candidate, list_edges
from tests.support.dirty_markets import make_market

GAS_PRICES = 0, 20 * 10**9


def search(router: Router, request: RouteRequest, *, is_narrow: bool) -> list[Candidate]:
    """Return the candidates of one search over as many hops as may be."""
    gas_cost = router.graph.gas_cost(request.gas_prices or {})
    allowed, work = router.graph.every_market, np.zeros(1, np.int64)
    found = router._search.find_candidates(request, gas_cost, allowed, MAX_HOPS, work, is_narrow=is_narrow)
    prospects = router._search.get_memory().workspace.scratch.prospects
    assert not prospects.most.any()
    return found


def find_best_scores(candidates: list[Candidate]) -> list[float]:
    """Return the best score over up to each number of hops."""
    return [
        max((score for (_, score), row in candidates if np.count_nonzero(np.array(row) >= 0) <= hops), default=-inf)
        for hops in range(1, MAX_HOPS + 1)
    ]


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
@pytest.mark.parametrize("gas_price", GAS_PRICES)
def test_no_best_path_is_left_out_of_dirty_markets(gas_price: int, side: str) -> None:
    compared = 0
    for seed in range(150):
        rng = random.Random(seed)
        markets, first, last = make_market(rng)
        router = Router(Snapshot(markets, gas_prices={1: gas_price}))
        fixed = first if side == "exact_in" else last
        amount = int(10 ** rng.uniform(0, 6) * 10**fixed.decimals)
        request = RouteRequest(token_in=first, token_out=last, amount=amount, side=side, gas_prices={1: gas_price})
        whole, narrow = (search(router, request, is_narrow=each) for each in (False, True))
        compared += bool(whole)
        assert all(a <= b for a, b in zip(find_best_scores(whole), find_best_scores(narrow), strict=True)), seed
        assert not whole or list_edges(whole[0]) == list_edges(narrow[0]), seed
    assert compared > 80


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
@pytest.mark.parametrize("gas_price", GAS_PRICES)
def test_most_is_left_out_of_a_large_market_with_loops(gas_price: int, side: str) -> None:
    router = Router(constant_product_market(tokens=400, pools=1600, disagreement=LOOPS))
    tokens, rng, kept, found = router.graph.tokens, random.Random(3), 0, 0
    for _ in range(40):
        token_in, token_out = rng.sample(tokens, 2)
        amount = int(10 ** rng.uniform(15, 20))
        request = RouteRequest(
            token_in=token_in, token_out=token_out, amount=amount, side=side, gas_prices={1: gas_price}
        )
        whole, narrow = (search(router, request, is_narrow=each) for each in (False, True))
        assert all(a <= b for a, b in zip(find_best_scores(whole), find_best_scores(narrow), strict=True))
        kept, found = kept + len(narrow), found + len(whole)
    assert kept < 0.8 * found


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
@pytest.mark.parametrize("gas_price", GAS_PRICES)
def test_a_beam_raises_floors_and_no_best_path_is_left_out(gas_price: int, side: str) -> None:
    router = Router(constant_product_market(tokens=2_000, pools=8_500, disagreement=LOOPS))
    assert router.graph.source.size > LARGE
    prospects, rng, raised = router._search.get_memory().workspace.scratch.prospects, random.Random(4), 0
    for _ in range(12):
        token_in, token_out = rng.sample(router.graph.tokens, 2)
        amount = int(10 ** rng.uniform(18, 23))
        request = RouteRequest(
            token_in=token_in, token_out=token_out, amount=amount, side=side, gas_prices={1: gas_price}
        )
        whole, narrow = (search(router, request, is_narrow=each) for each in (False, True))
        assert all(a <= b for a, b in zip(find_best_scores(whole), find_best_scores(narrow), strict=True))
        assert all(prospects.floor <= np.maximum(prospects.least, [-inf, *find_best_scores(narrow)]))
        raised += bool((prospects.floor > prospects.least).any())
    assert raised > 2


def test_alternatives_are_looked_for_in_whole() -> None:
    router = Router(constant_product_market(tokens=100, pools=600))
    token_in, token_out = router.graph.tokens[:2]
    request = RouteRequest(token_in=token_in, token_out=token_out, amount=10**18, max_splits=1, alternatives=5)
    assert len(router.find_routes(request).routes) == 6
