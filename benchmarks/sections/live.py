"""A market that moves: what an update costs, whether searches wait for it, and how soon a process quotes."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
import time
from dataclasses import replace

from benchmarks.instances import queries
from benchmarks.measure import percentile, request_of, timed
from benchmarks.report import Row, at_most
from benchmarks.sections import Entries, Setting
from routing_engine import Market, Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool

BATCH = 1_000
UPDATES = 20
STARTS = 3
FIRST_QUOTE = """
import time
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    from routing_engine import Router, RouteRequest, Snapshot
    snapshot = Snapshot.sandbox()
    request = RouteRequest(token_in=snapshot.token("WETH@1"), token_out=snapshot.token("USDC@1"), amount=10**18)
    Router(snapshot).find_routes(request).best()
print(len(compiled.buffer))
"""
"""scipy is here for the convex oracle only. The engine doesn't need it, but numba loads it where it is installed, which
takes longer than everything else; so it is hidden, as in an installation of the engine."""


def run(setting: Setting) -> Entries:
    """Measure on the large consistent market, and in fresh processes."""
    router = setting.router
    changes = changed(router.snapshot, BATCH)
    setting.note("updates")
    _, applied = timed(lambda: router.snapshot.apply(changes), UPDATES)
    _, ready = timed(lambda: router.updated(router.snapshot.apply(changes)), UPDATES)
    yield at_most(
        f"a pool update, amortised in a batch of {BATCH:,}: the next snapshot", 1e6 * applied / BATCH, 1, "µs"
    )
    yield at_most("the same and the next router, prices and content hash included", 1e6 * ready / BATCH, 1, "µs")
    setting.note("searches beside updates")
    yield _beside_updates(router, changes)
    setting.note("starts of a process")
    yield from _starts()


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
            router.updated(router.snapshot.apply(changes))

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
    """Start processes that quote once; the first may still fill caches and does not count."""
    seconds, processor, compiled = [], [], "?"
    for number in range(STARTS + 1):
        before, started = _children(), time.perf_counter()
        done = subprocess.run([sys.executable, "-c", FIRST_QUOTE], capture_output=True, text=True, check=True)
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
