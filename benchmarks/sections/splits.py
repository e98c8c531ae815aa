"""Divided routes with their certificates: time and proven gap, gas free and not, consistent market and loops."""

from __future__ import annotations

from benchmarks.instances import SIZES, Query, queries
from benchmarks.measure import gap_of, gas_price, percentile, request_of, timed
from benchmarks.report import Table, at_most, share
from benchmarks.sections import Entries, Setting
from routing_engine import Router, RouteRequest

SMALL = 0.01
"""Trades up to this part of the depth are what most targets speak of."""

Case = tuple[Query, float, float]
"""A query, the seconds its answer took, and the proven gap in bps."""


def run(setting: Setting) -> Entries:
    """Measure on both large markets."""
    count = 100 if setting.full else 12
    router = setting.router
    asked = queries(router, count)
    cases = {hops: _cases(router, [(query, request_of(query, max_hops=hops)) for query in asked]) for hops in (3, 4)}
    for hops, found in cases.items():
        times = [1e3 * seconds for query, seconds, _ in found if query.size <= SMALL]
        yield at_most(
            f"division with certificate, ≤ 1 % of depth, ≤ {hops} hops, p50", percentile(times, 50), 0.5, "ms"
        )
        yield at_most(f"division with certificate, ≤ 1 % of depth, ≤ {hops} hops, p95", percentile(times, 95), 3, "ms")
    proven = [gap <= 0.1 for query, _, gap in cases[4] if query.size <= SMALL]
    yield share("proven within 0.1 bps of the bound, gas free, ≤ 1 % of depth", proven, 0.95)
    setting.note("gas of 1 bps a pool")
    with_gas = _cases(router, [(query, request_of(query, gas_prices={1: gas_price(router, query)})) for query in asked])
    small = [gap for query, _, gap in with_gas if query.size <= SMALL]
    yield at_most("proven gap net of gas, 1 bps a pool, ≤ 1 % of depth, median", percentile(small, 50), 1, "bps")
    setting.note("the market with loops")
    loops = queries(setting.loops, count)
    looped = _cases(setting.loops, [(query, request_of(query)) for query in loops])
    for size, limit in ((0.0001, 2), (0.01, 20)):
        gaps = [gap for query, _, gap in looped if query.size == size]
        yield at_most(
            f"market with loops, proven gap at {size:.2%} of depth, median", percentile(gaps, 50), limit, "bps"
        )
    yield from _tables(
        {"gas free, ≤ 3 hops": cases[3], "gas free": cases[4], "1 bps a pool": with_gas, "loops": looped}
    )


def _cases(router: Router, asked: list[tuple[Query, RouteRequest]]) -> list[Case]:
    for _, request in asked[:3]:
        router.find_routes(request)
    found = []
    for query, request in asked:
        result, seconds = timed(lambda r=request: router.find_routes(r))
        found.append((query, seconds, gap_of(result)))
    return found


def _tables(runs: dict[str, list[Case]]) -> Entries:
    rows = []
    for name, cases in runs.items():
        for size in SIZES:
            here = [case for case in cases if case[0].size == size]
            times, gaps = [1e3 * seconds for _, seconds, _ in here], [gap for _, _, gap in here]
            rows.append(
                (
                    f"{name}, {size:.2%} of depth", str(len(here)),
                    *(f"{percentile(times, rank):.2f}" for rank in (50, 95)),
                    *(f"{percentile(gaps, rank):.3g}" for rank in (50, 95, 100)),
                )
            )  # fmt: skip
    yield Table(
        title="Divided routes",
        columns=("run", "queries", "ms p50", "ms p95", "gap bps p50", "p95", "max"),
        rows=tuple(rows),
    )
