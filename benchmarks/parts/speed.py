"""Single paths: how long they take, and the other side, and alternatives."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.instances import queries
from benchmarks.measure import bps, percentile, request_of, timed
from benchmarks.parts import Entries, Setting
from benchmarks.parts.asked import ask
from benchmarks.parts.report import Row, Table, at_most
from routing_engine import Router, RouteRequest

SIZES = (0.0001, 0.001, 0.01)


def run(setting: Setting) -> Entries:
    """Measure on the large consistent market."""
    router = setting.router
    asked = queries(router, 100 if setting.full else 12, SIZES)
    single = [request_of(query, max_hops=3, max_splits=1) for query in asked]
    walls = [1e3 * ask(router, request).wall_ms for request in single]
    ours = _seconds(router, single)
    yield at_most("best path, ≤ 3 hops, wall time of the first call, median", percentile(walls, 50), 60, "µs")
    yield at_most("best path, ≤ 3 hops, cpu time, fastest of three, median", 1e6 * percentile(ours, 50), 60, "µs")
    bare = _seconds(router, [replace(request, certify=False) for request in single])
    yield at_most("the same without a certificate", 1e6 * percentile(bare, 50), 60, "µs")
    yield _table(router, single, ours)
    setting.note("the other side")
    yield from _exact_out(router, [request_of(query) for query in asked])
    setting.note("alternatives")
    yield from _alternatives(router, single)


def _seconds(router: Router, requests: list[RouteRequest]) -> list[float]:
    for request in requests[:5]:
        router.find_routes(request)
    return [timed(lambda r=request: router.find_routes(r))[1] for request in requests]


def _table(router: Router, single: list[RouteRequest], ours: list[float]) -> Table:
    reached = [request for request in single if router.find_routes(replace(request, max_hops=2)).routes]
    two = _seconds(router, [replace(request, max_hops=2) for request in reached])
    four = _seconds(router, [replace(request, max_hops=4) for request in single])
    rows = {
        "best path, ≤ 2 hops": two,
        "best path, ≤ 3 hops": ours,
        "best path, ≤ 4 hops": four,
    }
    return Table(
        title="Single paths, 5,000 tokens and 20,000 pools, ms",
        columns=("search", "queries", "p50", "p95"),
        rows=tuple(
            (name, str(len(times)), f"{1e3 * percentile(times, 50):.3f}", f"{1e3 * percentile(times, 95):.3f}")
            for name, times in rows.items()
        ),
    )


def _exact_out(router: Router, requests: list[RouteRequest]) -> Entries:
    """Sell, then buy what that gave: the price of it in time, and whether the amounts meet."""
    there, back, worse, overpaid = [], [], 0, []
    for request in requests:
        result, seconds = timed(lambda r=request: router.find_routes(r))
        got = result.best()
        inverse = replace(request, amount=got.amount_out, side="exact_out")
        again, back_seconds = timed(lambda r=inverse: router.find_routes(r))
        there.append(seconds)
        back.append(back_seconds)
        paid = again.best()
        worse += paid.amount_out < got.amount_out
        overpaid.append(bps(paid.amount_in, request.amount))
    ratio = percentile([b / a for a, b in zip(there, back, strict=True)], 50)
    yield at_most("exact-out, times the time of exact-in, median, divided routes", ratio, 2, "×")
    single_off = _round_trips(router, requests)
    yield Row(
        what="round trip of single paths: input above the one that gave the output", target="0",
        measured=f"{single_off} of {len(requests)}", passed=single_off == 0,
    )  # fmt: skip
    yield Row(
        what="round trip of divided routes: output reached; paid above the first input, at most", target="reached",
        measured=f"{len(requests) - worse} of {len(requests)}; {max(overpaid):.2g} bps", passed=worse == 0,
    )  # fmt: skip


def _round_trips(router: Router, requests: list[RouteRequest]) -> int:
    """Number of single paths whose output could be bought for no more than was paid, but was not."""
    off = 0
    for request in requests:
        got = router.find_routes(replace(request, max_splits=1)).best()
        inverse = replace(request, amount=got.amount_out, side="exact_out", max_splits=1)
        paid = router.find_routes(inverse).best()
        off += paid.amount_in > request.amount or paid.amount_out < got.amount_out
    return off


def _alternatives(router: Router, requests: list[RouteRequest]) -> Entries:
    extra = []
    for request in requests:
        more = replace(request, alternatives=5)
        _, one = timed(lambda r=request: router.find_routes(r))
        _, six = timed(lambda r=more: router.find_routes(r))
        extra.append(six - one)
    yield at_most("five alternatives, more than one path, median", 1e3 * percentile(extra, 50), 0.1, "ms")
