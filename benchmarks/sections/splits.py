"""Divided routes with their certificates: time and proven gap, gas free and not, consistent market and loops."""

from __future__ import annotations

from benchmarks.asked import Asked, ask
from benchmarks.instances import SIZES, Query, queries
from benchmarks.measure import gas_price, percentile, request_of
from benchmarks.report import Table, at_most, share
from benchmarks.sections import Entries, Setting
from routing_engine import Router, RouteRequest
from routing_engine.request import MAX_HOPS

SMALL = 0.01
"""Trades up to this part of the depth are what most targets speak of."""

TARGETS = {3: (0.5, 3.0), MAX_HOPS: (1.0, 10.0)}
"""Milliseconds by hops: median, and what 95 of 100 stay below."""

Case = tuple[Query, Asked]
"""A query, and its answer with both clocks."""


def run(setting: Setting) -> Entries:
    """Measure on both large markets."""
    count = 100 if setting.full else 12
    router = setting.router
    asked = queries(router, count)
    cases = {hops: _cases(router, [(query, request_of(query, max_hops=hops)) for query in asked]) for hops in TARGETS}
    for hops, found in cases.items():
        for clock in ("wall", "cpu"):
            times = [getattr(asked, f"{clock}_ms") for query, asked in found if query.size <= SMALL]
            what = f"division with certificate, ≤ 1 % of depth, ≤ {hops} hops, {clock} time"
            yield at_most(f"{what}, p50", percentile(times, 50), TARGETS[hops][0], "ms")
            yield at_most(f"{what}, p95", percentile(times, 95), TARGETS[hops][1], "ms")
    proven = [asked.gap <= 0.1 for query, asked in cases[MAX_HOPS] if query.size <= SMALL]
    yield share("proven within 0.1 bps of the bound, gas free, ≤ 1 % of depth", proven, 0.95)
    setting.note("gas of 1 bps a pool")
    with_gas = _cases(router, [(query, request_of(query, gas_prices={1: gas_price(router, query)})) for query in asked])
    small = [case.gap for query, case in with_gas if query.size <= SMALL]
    yield at_most("proven gap net of gas, 1 bps a pool, ≤ 1 % of depth, median", percentile(small, 50), 1, "bps")
    setting.note("the market with loops")
    loops = queries(setting.loops, count)
    looped = _cases(setting.loops, [(query, request_of(query)) for query in loops])
    for size, limit in ((0.0001, 2), (0.01, 20)):
        gaps = [case.gap for query, case in looped if query.size == size]
        yield at_most(
            f"market with loops, proven gap at {size:.2%} of depth, median", percentile(gaps, 50), limit, "bps"
        )
    yield from _tables(
        {"gas free, ≤ 3 hops": cases[3], "gas free": cases[MAX_HOPS], "1 bps a pool": with_gas, "loops": looped}
    )


def _cases(router: Router, asked: list[tuple[Query, RouteRequest]]) -> list[Case]:
    return [(query, ask(router, request)) for query, request in asked]


def _tables(runs: dict[str, list[Case]]) -> Entries:
    rows = []
    for name, cases in runs.items():
        for size in SIZES:
            here = [asked for query, asked in cases if query.size == size]
            gaps = [asked.gap for asked in here]
            rows.append(
                (
                    f"{name}, {size:.2%} of depth", str(len(here)),
                    *(f"{percentile([asked.wall_ms for asked in here], rank):.2f}" for rank in (50, 95)),
                    *(f"{percentile([asked.cpu_ms for asked in here], rank):.2f}" for rank in (50, 95)),
                    *(f"{percentile(gaps, rank):.3g}" for rank in (50, 95, 100)),
                )
            )  # fmt: skip
    yield Table(
        title="Divided routes",
        columns=("run", "queries", "wall ms p50", "p95", "cpu ms p50", "p95", "gap bps p50", "p95", "max"),
        rows=tuple(rows),
    )
