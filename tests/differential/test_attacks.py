"""Certificates are attacked on dirty markets: no division of any simple way gets past a bound.

``ATTACKS`` says on how many markets; `make marathon` attacks 20,000.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest

from benchmarks.peers.fynd.board import Board
from routing_engine import Certificate, Router, RouteRequest, Snapshot
from tests.support.certificate_attacks import PARTS, Attack, attack, count_hops, fill, find_rival, judge, list_ways
from tests.support.dirty_markets import make_market

ATTACKS = int(os.environ.get("ATTACKS", "500"))
RUNS = 4


@pytest.mark.parametrize("run", range(RUNS))
def test_no_bound_is_broken(run: int) -> None:
    tried = [each for seed in range(run, ATTACKS, RUNS) for each in attack(seed)]
    assert not [each.broken for each in tried if each.broken]
    assert len(tried) > 1.2 * ATTACKS / RUNS
    assert {each.side for each in tried} == {"exact_in", "exact_out"}
    assert sum(each.claimed for each in tried) > 0.8 * len(tried)


@pytest.mark.parametrize(
    "seed",
    [
        3454,  # a fixed cost of next to nothing lost the digits of a tangent's input
        6209,  # gas was valued by the price of a token that has none
        6407,  # a token that multipliers had made worthless counted as one from which nothing leads on
    ],
)
def test_bounds_that_were_broken_hold(seed: int) -> None:
    tried = [*attack(seed)]
    assert tried
    assert not [each.broken for each in tried if each.broken]


def test_markets_are_dirty_and_long() -> None:
    kinds, longest, dust = set(), 0, 0
    for seed in range(60):
        markets, first, last = make_market(random.Random(seed))
        kinds |= {type(market).__name__ for market in markets}
        request = RouteRequest(token_in=first, token_out=last, amount=1)
        longest = max([longest, *(len(way) for way in list_ways(markets, request, 6))])
        dust += sum(market.limits(*market.edges()[0]).max_amount_in < 10**6 for market in markets if market.edges())
    assert len(kinds) == 6
    assert longest == 6
    assert dust > 0


def make_case(seed: int) -> tuple[Router, RouteRequest]:
    markets, first, last = make_market(random.Random(seed))
    router = Router(Snapshot(markets, gas_prices={1: 0}))
    return router, RouteRequest(token_in=first, token_out=last, amount=10 ** (first.decimals + 2))


def test_a_bound_that_is_too_low_is_broken() -> None:
    """A single path that claims to be optimal is caught."""
    caught = 0
    for seed in range(40):
        router, request = make_case(seed)
        rival = find_rival(router, request, 4)
        single = router.find_routes(replace(request, max_splits=1))
        if rival is None or not single.routes or rival.net_amount <= single.best().net_amount:
            continue
        forged = replace(single, certificates=(Certificate(gap_bps=0.0, scope="routes_up_to_4_hops", gas_aware=True),))
        found: Attack = judge(seed, forged, rival, 0.0)
        assert found.broken
        assert found.slack_bps < 0 < found.better_bps
        caught += 1
    assert caught > 10


def test_a_scope_says_which_rivals_count() -> None:
    router, request = make_case(1)
    result = router.find_routes(request)
    for scope, hops in (("routes_up_to_1_hop", 1), ("routes_up_to_4_hops", 4), ("all_flows", 6)):
        certificate = Certificate(gap_bps=0.0, scope=scope, gas_aware=True)
        assert count_hops(replace(result, certificates=(certificate,))) == hops


def test_the_grid_is_spent_whole() -> None:
    router, request = make_case(3)
    board = Board(router, replace(request, amount=request.amount + 7))
    ways = list(list_ways(router.snapshot.markets.values(), request, 4))
    division = fill(board, ways, 3)
    assert sum(amount for amount, _ in division) == board.request.amount
    assert 1 <= len(division) <= 3
    assert all(amount >= board.request.amount // PARTS for amount, _ in division)
