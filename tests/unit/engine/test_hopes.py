"""What a search for columns leaves out, as it can't arrive or is less than is hoped for, it would not find either."""

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
from routing_engine.kernels.bound import arrivals
from routing_engine.kernels.split import column_pricing, try_columns
from tests.support.mixed import GAS_PRICES, mixed_markets

search, fill_arrivals, compared, wrong, hoped = column_pricing.price_columns, column_pricing.fill_arrivals, 0, 0, 0


def compare(problem, state, threshold, scratch, columns):
    global compared, wrong, hoped
    whole = column_pricing.Columns(columns.found.copy(), columns.price.copy(), np.zeros_like(columns.hope))
    total = search(problem, state, threshold, scratch, columns)
    hoped += bool((columns.hope[1:] > 0.0).any())
    column_pricing.fill_arrivals = lambda problem, state: None
    whole.hope[0] = 1.0  # begun, so that nothing is hoped for
    same = total == search(problem, state, threshold, scratch, whole)
    column_pricing.fill_arrivals = fill_arrivals
    wrong += not (same and np.array_equal(columns.found, whole.found) and np.array_equal(columns.price, whole.price))
    wrong += bool(state.arrivals.most.any() or state.arrivals.counted.any() or state.arrivals.sizes.any())
    compared += total
    return total


try_columns.price_columns = compare
rng, other, counts = random.Random(3), random.Random(0), []
consistent, mixed = constant_product_market(tokens=14, pools=50), Snapshot(mixed_markets(other), gas_prices=GAS_PRICES)
for snapshot, few, pairs, rng in ((consistent, arrivals.FEW, 1, rng), (consistent, 0, 1, rng), (mixed, 0, 1, other)):
    arrivals.FEW, arrivals.LARGE, router, compared = few, 0, Router(snapshot), 0  # few 0: nobody is a hub
    for _ in range(pairs):
        token_in, token_out = rng.sample(router.graph.tokens, 2)
        for amount in (10**18, 10**22):
            asked = {"token_in": token_in, "token_out": token_out, "amount": amount, "max_hops": 4, "max_splits": 3}
            router.find_routes(RouteRequest(**asked, time_budget_ms=600_000))
    counts.append(compared)
print(json.dumps([counts, wrong, hoped]))
"""


def test_the_columns_found_are_those_of_a_whole_search() -> None:
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    counts, wrong, hoped = json.loads(found.stdout)
    assert min(counts) > 100
    assert hoped > 10
    assert wrong == 0
