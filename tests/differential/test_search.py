"""The compiled search against every path there is, on markets small enough to try them all."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.graph.gas_valuation import Valuation
from tests.support.markets import brute_force, random_markets

GAS_PRICES = {1: 20 * 10**9, 10: 10**8}


@pytest.mark.parametrize("order", ["cheapest", "fastest", "balanced"])
@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_the_best_path_is_found(side: str, order: str) -> None:
    """The router's best is the brute-force best, to the unit, gas and time included."""
    compared = 0
    for seed in range(120):
        rng = random.Random(f"{seed}{side}{order}")
        markets = random_markets(rng)
        router = Router(Snapshot(markets, gas_prices=GAS_PRICES if rng.random() < 0.7 else {}))
        tokens = sorted(router.graph.tokens, key=str)
        if len(tokens) < 2:
            continue
        token_in, token_out = rng.sample(tokens, 2)
        fixed = token_in if side == "exact_in" else token_out
        request = RouteRequest(
            token_in=token_in, token_out=token_out, amount=int(10 ** rng.uniform(-2, 4) * 10**fixed.decimals),
            side=side, order=order, max_hops=rng.randint(1, 4), max_splits=1,
        )  # fmt: skip
        expected = brute_force(markets, request, Valuation(router.graph, router.snapshot.gas_prices))
        found = router.find_routes(request)
        if expected is None:
            assert not found.routes, seed
            continue
        compared += 1
        best = found.best()
        assert (best.net_amount, best.fill_time_s) == (expected.net_amount, expected.fill_time_s), (
            seed, str(best), str(expected),
        )  # fmt: skip
    assert compared > 40


def test_kernels_agree_with_their_uncompiled_selves() -> None:
    """The same searches with the compiler off give the same routes: compilation hides no overflow or type change."""
    script = (
        "import random\n"
        "from routing_engine import Router, RouteRequest, Snapshot\n"
        "from tests.support.markets import random_markets\n"
        "for seed in range(6):\n"
        "    router = Router(Snapshot(random_markets(random.Random(seed)), gas_prices={1: 10**10}))\n"
        "    a, b = sorted(router.graph.tokens, key=str)[:2]\n"
        "    for side in ('exact_in', 'exact_out'):\n"
        "        ends = {'token_in': a, 'token_out': b, 'amount': 10**a.decimals}\n"
        "        request = RouteRequest(**ends, side=side, time_budget_ms=600_000)\n"
        "        print([(str(r), r.amount_in, r.amount_out) for r in router.find_routes(request).routes])\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script], env=os.environ | {"NUMBA_DISABLE_JIT": off}, capture_output=True,
            text=True, check=True,
        ).stdout
        for off in ("0", "1")
    ]  # fmt: skip
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 12
