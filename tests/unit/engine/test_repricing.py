"""Dual prices that are brought up to date are those that would be found anew."""

from __future__ import annotations

import json
import os
import subprocess
import sys

SCRIPT = """
import json, random
import numpy as np
from benchmarks.instances import constant_product_market
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.kernels.bound import dual_bound
from routing_engine.kernels.bound.dual_prices import compute_dual_prices
from routing_engine.kernels.workspace import create_workspace
from routing_engine.request import MAX_HOPS
from tests.support.mixed import GAS_PRICES, mixed_markets

bring_up_to_date, compared, wrong = dual_bound.lower_dual_prices, 0, 0


def compare(market, problem, state, duals, enough):
    global compared, wrong
    bring_up_to_date(market, problem, state, duals, enough)
    anew = create_workspace(duals.best.shape[1], MAX_HOPS)
    compute_dual_prices(problem, state, anew, enough)
    pairs = [(duals.best, anew.duals.best), (duals.other, anew.duals.other)]
    compared += int(duals.best.any())
    wrong += not all(np.array_equal(*pair) for pair in pairs) or bool(duals.waits.any() or duals.waiting.any())


dual_bound.lower_dual_prices = compare
rng = random.Random(1)
for snapshot in (constant_product_market(tokens=12, pools=50), Snapshot(mixed_markets(rng), gas_prices=GAS_PRICES)):
    router = Router(snapshot)
    for _ in range(2):
        token_in, token_out = rng.sample(router.graph.tokens, 2)
        for amount in (10**18, 10**22):
            asked = {"token_in": token_in, "token_out": token_out, "amount": amount, "max_hops": 4, "max_splits": 3}
            router.find_routes(RouteRequest(**asked, time_budget_ms=600_000))
print(json.dumps([compared, wrong]))
"""


def test_prices_brought_up_to_date_are_those_found_anew() -> None:
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    compared, wrong = json.loads(found.stdout)
    assert compared > 100
    assert wrong == 0
