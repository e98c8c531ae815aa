"""Properties of requests that have more to choose from: no more paths, and no more hops, make an answer worse."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from routing_engine import Router, RouteRequest, RouteResult, Snapshot
from routing_engine.request import MAX_HOPS
from tests.support.dirty_markets import make_market, units
from tests.support.markets import random_markets

GAS_PRICES = {1: 20 * 10**9, 10: 10**8}
SPLITS, HOPS = (1, 2, 3, 6, 12, 40, 100), range(1, MAX_HOPS + 1)

ROUNDING, UNITS = 1e-9, 8
"""Part of an amount by which two divisions of one flow may differ, beside two units, and units of the coarsest token on
the way: so many are left free where a market is full."""


def draw_requests(side: str, count: int) -> Iterator[tuple[int, Router, RouteRequest]]:
    """Yield requests on small random markets."""
    for seed in range(count):
        rng = random.Random(f"more {side} {seed}")
        router = Router(Snapshot(random_markets(rng), gas_prices=GAS_PRICES if rng.random() < 0.7 else {}))
        tokens = sorted(router.graph.tokens, key=str)
        if len(tokens) < 2:
            continue
        token_in, token_out = rng.sample(tokens, 2)
        fixed = token_in if side == "exact_in" else token_out
        amount = int(10 ** rng.uniform(0, 5) * 10**fixed.decimals)
        yield seed, router, RouteRequest(token_in=token_in, token_out=token_out, amount=amount, side=side)


def is_worse(after: RouteResult, before: RouteResult) -> bool:
    """Tell whether an answer is lost, or nets less than rounding explains."""
    if not before.routes or not after.routes:
        return bool(before.routes)
    now, then = after.best().net_amount, before.best().net_amount
    lost = now - then if after.request.side == "exact_out" else then - now
    coarse = min(hop.amount_out for answer in (before, after) for hop in answer.best().hops)
    return lost > 2 + (ROUNDING + UNITS / coarse) * abs(then)


def widen(request: RouteRequest, what: str) -> list[RouteRequest]:
    """Return the request with ever more to choose from."""
    if what == "splits":
        return [replace(request, max_splits=most) for most in SPLITS]
    return [replace(request, max_hops=most) for most in HOPS]


@pytest.mark.parametrize("what", ["splits", "hops"])
@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_more_to_choose_from_makes_no_answer_worse(side: str, what: str) -> None:
    grown = 0
    for seed, router, request in draw_requests(side, 60):
        answers = [router.find_routes(each) for each in widen(request, what)]
        for before, after in pairwise(answers):
            assert not is_worse(after, before), (seed, after.request.max_splits, after.request.max_hops)
        grown += bool(answers[-1].routes) and is_worse(answers[0], answers[-1])
    assert grown > 10, "in some there is something to gain"


@pytest.mark.parametrize(
    ("seed", "side", "fewer", "more"),
    [
        (70, "exact_in", 6, 12),  # 25 bps less
        (159, "exact_in", 3, 6),  # 8
        (409, "exact_in", 3, 6),  # 72
        (347, "exact_out", 12, 40),  # 0.5
        (397, "exact_out", 6, 12),  # 0.5
        (415, "exact_out", 2, 3),  # 21
    ],
)
def test_more_paths_once_made_these_worse(seed: int, side: str, fewer: int, more: int) -> None:
    """On dirty markets, where certificates left much open."""
    rng = random.Random(f"attack {seed}")
    markets, token_in, token_out = make_market(rng)
    router = Router(Snapshot(markets, gas_prices={1: rng.choice((0, 10**9, 2 * 10**10))}))
    amount = units(token_in, 10 ** rng.uniform(1, 6.5))
    request = RouteRequest(token_in=token_in, token_out=token_out, amount=amount, time_budget_ms=600_000)
    if side == "exact_out":
        request = replace(request, side=side, amount=router.find_routes(request).best().amount_out)
    before, after = (router.find_routes(replace(request, max_splits=most)) for most in (fewer, more))
    assert not is_worse(after, before)
    assert after.certificate is not None
    assert after.certificate.gap_bps is None or after.certificate.gap_bps >= 0.0
