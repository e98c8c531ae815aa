"""A market that moves: what an update costs, whether searches wait for it, and how soon a process quotes."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
import time
from dataclasses import replace

from benchmarks.instances import queries
from benchmarks.measure import percentile, request_of
from benchmarks.parts import Entries, Setting
from benchmarks.parts.report import Row, at_most
from routing_engine import Market, Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool

BATCH = 1_000
UPDATES = 20
STARTS = 3
FIRST_QUOTE = """
import sys
sys.modules.update(dict.fromkeys(("cffi", "coverage", "scipy", "yaml")))
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    from routing_engine import Router, RouteRequest, Snapshot
    snapshot = Snapshot.sandbox()
    request = RouteRequest(token_in=snapshot.token("WETH@1"), token_out=snapshot.token("USDC@1"), amount=10**18)
    Router(snapshot).find_routes(request).best()
print(len(compiled.buffer))
"""
"""What is hidden is here for tests. The engine doesn't need it, but numba loads it where it is installed, which takes
longer than all the engine's own modules; an installation of the engine has none of it."""


def run(setting: Setting) -> Entries:
    """Measure on the large consistent market, and in fresh processes."""
    router = setting.router
    setting.note("updates")
    applied, ready, named = updates(router)
    yield at_most(
        f"a pool update, amortised in a batch of {BATCH:,}: the next snapshot", 1e6 * applied / BATCH, 1, "µs"
    )
    yield at_most("the same and the next router, prices included", 1e6 * ready / BATCH, 1, "µs")
    yield at_most("the same, and the content hash is read", 1e6 * named / BATCH, 1, "µs")
    setting.note("searches beside updates")
    yield _beside_updates(router, changed(router.snapshot, BATCH))
    setting.note("starts of a process")
    yield from _starts()


def updates(router: Router) -> tuple[float, float, float]:
    """Change the same pools in one batch after another; the seconds of the fastest snapshot, with its router, its id.

    Each batch follows the one before it, as blocks do: no state comes twice.
    """
    applied, ready, named = [], [], []
    for _ in range(UPDATES):
        changes = changed(router.snapshot, BATCH)
        started = time.perf_counter()
        snapshot = router.snapshot.apply(changes)
        applied.append(time.perf_counter() - started)
        router = router.follow(snapshot)
        ready.append(time.perf_counter() - started)
        assert snapshot.id
        named.append(time.perf_counter() - started)
    return min(applied), min(ready), min(named)


def changed(snapshot: Snapshot, count: int) -> list[Market]:
    """Return the first pools of a market with other reserves."""
    pools = [market for market in snapshot.markets.values() if isinstance(market, ConstantProductPool)]
    return [replace(pool, reserve0=pool.reserve0 + 1) for pool in pools[:count]]


def _beside_updates(router: Router, changes: list[Market]) -> Row:
    """Search while another thread makes the next snapshots without a pause."""
    requests = [request_of(query, max_hops=3, max_splits=1) for query in queries(router, 20, (0.001,))]
    alone = _all(router, requests)
    stop = threading.Event()

    def update() -> None:
        while not stop.is_set():
            router.follow(router.snapshot.apply(changes))

    thread = threading.Thread(target=update)
    thread.start()
    beside = _all(router, requests)
    stop.set()
    thread.join()
    return Row(
        what="best path, median ms: alone; while another thread makes snapshots and routers without a pause",
        target="same routes", measured=f"{1e3 * percentile(alone[1], 50):.3f}; {1e3 * percentile(beside[1], 50):.3f}",
        passed=alone[0] == beside[0],
    )  # fmt: skip


def _all(router: Router, requests: list[RouteRequest]) -> tuple[list[int], list[float]]:
    outputs, times = [], []
    for _ in range(5):
        for request in requests:
            started = time.perf_counter()
            outputs.append(router.find_routes(request).best().amount_out)
            times.append(time.perf_counter() - started)
    return outputs, times


def _starts() -> Entries:
    """Start processes that quote once; the first may still fill caches, of byte code too, and does not count."""
    seconds, processor, compiled = [], [], "?"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for number in range(STARTS + 1):
        before, started = _children(), time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", FIRST_QUOTE], capture_output=True, text=True, check=True, env=environment
        )
        if number:
            seconds.append(time.perf_counter() - started)
            processor.append(_children() - before)
        compiled = done.stdout.strip()
    yield at_most("start of Python to the first quote on the sandbox, kernels in their cache", min(seconds), 0.6, "s")
    yield Row(what="processor time of that start", target="", measured=f"{min(processor):.3g} s")
    yield Row(what="kernels compiled on the way of that quote", target="0", measured=compiled, passed=compiled == "0")


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
