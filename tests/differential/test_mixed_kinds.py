"""Routes over markets of many kinds against everything that can be tried on small ones."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.graph.gas_valuation import Valuation
from tests.support.markets import brute_force
from tests.support.mixed import DOLLARS, GAS_PRICES, TOKENS, mixed_markets
from tests.support.pairs import best_on_the_grid

PATIENT_MS = 600_000
ROUNDING = 1e-9


def _case(rng: random.Random, side: str, *, least: float, gas: bool) -> tuple[Router, RouteRequest] | None:
    """A random market and request; None where the market has fewer than two tokens."""
    router = Router(Snapshot(mixed_markets(rng), gas_prices=GAS_PRICES if gas else {}))
    tokens = [token for token in TOKENS if token in router.graph.index]
    if len(tokens) < 2:
        return None
    token_in, token_out = rng.sample(tokens, 2)
    fixed = token_in if side == "exact_in" else token_out
    request = RouteRequest(
        token_in=token_in, token_out=token_out, side=side, max_hops=rng.randint(1, 4), time_budget_ms=PATIENT_MS,
        amount=int(10 ** rng.uniform(least, 6) / DOLLARS[fixed] * 10**fixed.decimals),
    )  # fmt: skip
    return router, request


@pytest.mark.parametrize("gas", [False, True], ids=["gross", "net"])
@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_the_best_path_is_found(side: str, gas: bool) -> None:
    """To the unit, whatever the kinds of the markets."""
    compared = 0
    for seed in range(50):
        case = _case(random.Random(f"{side}{seed}{gas}"), side, least=2, gas=gas)
        if case is None:
            continue
        router, request = case[0], replace(case[1], max_splits=1)
        markets = list(router.snapshot.markets.values())
        expected = brute_force(markets, request, Valuation(router.graph, router.snapshot.gas_prices))
        found = router.find_routes(request)
        if expected is None:
            assert not found.routes, seed
            continue
        compared += 1
        assert found.best().net_amount == expected.net_amount, (seed, str(found.best()), str(expected))
    assert compared > 25


@pytest.mark.parametrize("gas", [False, True], ids=["gross", "net"])
@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_no_division_over_two_paths_is_better(side: str, gas: bool) -> None:
    divided = 0
    for seed in range(25):
        case = _case(random.Random(f"{side}{seed}{gas} divided"), side, least=3.5, gas=gas)
        if case is None:
            continue
        router, request = case
        rival = best_on_the_grid(router, request)
        if rival is None:
            continue
        best = router.find_routes(request).best()
        divided += len(best.paths) > 1
        ahead = best.net_amount - rival.net_amount if side == "exact_in" else rival.net_amount - best.net_amount
        assert ahead >= -ROUNDING * abs(rival.net_amount), (seed, str(best), str(rival))
    assert divided > 4
