"""What is compiled: each kernel for one signature, so that nothing is compiled twice or on a request's path."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace
from threading import Thread

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.jit.direct_call import Compiled
from routing_engine.search.allocations import reallocation
from routing_engine.search.paths import path_search
from routing_engine.search.replays import least_input
from routing_engine.search.sales import approach
from routing_engine.search.splits import query, split
from tests.support.mixed import GAS_PRICES, mixed_markets

ON_COLUMNS_AND_TOKENS = {"find_last_row", "look_up_price", "_find_highest_target", "sort_by"}
"""Small ones that are called with literals or with both widths of integers."""

LIST_COMPILED_TWICE = """
import json, pkgutil
from importlib import import_module
from numba.core.dispatcher import Dispatcher
import routing_engine.curves.kernels, routing_engine.kernels
from routing_engine.jit.inner_kernel import InnerKernel
from routing_engine.warm_up import warm_up
warm_up()
packages = routing_engine.kernels, routing_engine.curves.kernels
names = [found.name for each in packages for found in pkgutil.walk_packages(each.__path__, f"{each.__name__}.")]
found = [each for name in names for each in vars(import_module(name)).values()]
kernels = {each.dispatcher for each in found if isinstance(each, InnerKernel)}
kernels |= {each for each in found if isinstance(each, Dispatcher)}
print(json.dumps([len(kernels), [each.__name__ for each in kernels if len(each.signatures) > 1]]))
"""


def test_no_kernel_is_compiled_for_two_signatures() -> None:
    # A counter that starts at a literal 0 or an index from an array of int32 makes numba compile the callee twice.
    # A process that compiles itself also sees what kernels call of each other. So one compiles, as in the Makefile, and
    # leaves its work in the cache, and another one looks at what Python calls.
    subprocess.run([sys.executable, "-m", "routing_engine.warm_up"], check=True, capture_output=True)
    found = subprocess.run([sys.executable, "-c", LIST_COMPILED_TWICE], check=True, capture_output=True, text=True)
    count, several = json.loads(found.stdout)
    assert count > 100
    assert set(several) <= ON_COLUMNS_AND_TOKENS


def compiled_kernels() -> list[Compiled]:
    """List the kernels that searches and divisions call without the dispatcher."""
    return [
        each
        for module in (path_search, query, split, reallocation, least_input, approach)
        for each in vars(module).values()
        if isinstance(each, Compiled)
    ]


def asked(router: Router, rng: random.Random) -> list[RouteRequest]:
    """Draw requests that use every argument of a kernel: both sides, masks, orders, divisions, amounts too large."""
    found = []
    for side in ("exact_in", "exact_out"):
        for order in ("cheapest", "fastest", "balanced"):
            (a, b), amount = rng.sample(router.graph.tokens, 2), int(10 ** rng.uniform(4, 30))
            request = RouteRequest(token_in=a, token_out=b, amount=amount, side=side, order=order)
            found += [
                request,
                replace(request, max_hops=rng.randint(1, 3), max_splits=rng.randint(1, 3), alternatives=5),
                replace(request, gas_prices=dict.fromkeys(GAS_PRICES, 0)),
                replace(request, deny_protocols=frozenset({router.graph.markets[0].protocol})),
            ]
    return found


def test_whatever_is_asked_calls_each_kernel_with_one_signature(monkeypatch):
    # Machine code that is called directly reads an argument of another type wrongly, so the dispatcher looks at all.
    monkeypatch.setattr(Compiled, "__call__", lambda self, *arguments: self.kernel(*arguments))
    for seed in range(6):
        rng = random.Random(f"signatures {seed}")
        snapshot = Snapshot(mixed_markets(rng), gas_prices=GAS_PRICES)
        router = Router(snapshot)
        market = router.graph.markets[0]
        edge = market.edges()[0]
        _, after = market.swap_exact_in(*edge, 2 * market.limits(*edge).min_amount_in)
        later = router.follow(snapshot.apply([after], gas_prices={1: 10**9}))
        for request in asked(router, rng):
            for each in (router, later):
                each.find_routes(request)
            router.find_pareto_set(request)
            list(router.stream(request))
    kernels = compiled_kernels()
    assert len(kernels) == 8
    assert [len(each.kernel.signatures) for each in kernels] == [1] * len(kernels)


def test_a_kernel_may_be_called_first_by_several_threads_and_need_not_be_compiled():
    doubled = Compiled(lambda number: 2 * number)  # as where NUMBA_DISABLE_JIT is set
    results: list[int] = []
    threads = [Thread(target=lambda: results.append(doubled(21))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [42] * 4
