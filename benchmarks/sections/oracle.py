"""The convex oracle on small and medium markets: what is left to gain, and that no certificate lies."""

from __future__ import annotations

from benchmarks.instances import CONSISTENT, LOOPS, SIZES, constant_product_market, queries
from benchmarks.measure import bps, percentile, request_of, timed
from benchmarks.peers.convex import TOLERANCE, optimum
from benchmarks.report import Row, Table
from benchmarks.sections import Entries, Setting
from routing_engine import Router

MARKETS = ((100, 400, CONSISTENT), (100, 400, LOOPS), (1_000, 4_000, CONSISTENT))
LARGE = (5_000, 20_000, CONSISTENT)
"""In a full run only: a solve takes several seconds."""


def run(setting: Setting) -> Entries:
    """Solve each query as a convex program of all flows, without gas and without limits on hops and paths."""
    rows, above, failed, solved = [], 0, 0, 0
    for tokens, pools, disagreement in (*MARKETS, LARGE) if setting.full else MARKETS:
        router = Router(constant_product_market(tokens=tokens, pools=pools, disagreement=disagreement))
        name = f"{tokens:,} / {pools:,}, {'prices agree' if disagreement == CONSISTENT else 'loops'}"
        gaps: dict[float, list[float]] = {size: [] for size in SIZES}
        theirs, ours = [], []
        for query in queries(router, 6 if setting.full and pools < LARGE[1] else 2, SIZES, seed=13):
            setting.note(f"convex program, {name}")
            request = request_of(query)
            best = optimum(router, request)
            result, seconds = timed(lambda r=request, router=router: router.find_routes(r))
            theirs.append(best.seconds)
            ours.append(seconds)
            if not best.solved:
                failed += 1
                continue
            solved += 1
            got = result.best().amount_out
            gaps[query.size].append(max(0.0, bps(best.amount_out, got)))
            above += got > best.amount_out * (1 + TOLERANCE)
        times = f"{1e3 * percentile(theirs, 50):,.0f}", f"{1e3 * percentile(ours, 50):.2f}"
        rows.append((name, *(f"{percentile(gaps[size], 50):,.4f}" for size in SIZES), *times))
    yield Row(
        what="no route gives more than the convex program's optimum", target="0",
        measured=f"{above} of {solved} ({failed} not solved by Clarabel)", passed=above == 0 and solved > 0,
    )  # fmt: skip
    yield Table(
        title="Below the optimum of all flows, median bps by size of trade: gas is free, any number of hops and paths, "
        "and loops give to it even when they have nothing to do with the trade",
        columns=("tokens / pools", *(f"{size:.2%}" for size in SIZES), "ms Clarabel", "ms ours"),
        rows=tuple(rows),
    )
