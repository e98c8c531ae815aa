"""The convex oracle on small and medium markets: what is left to gain, and that no certificate lies."""

from __future__ import annotations

from benchmarks.instances import CONSISTENT, LOOPS, SIZES, constant_product_market, queries
from benchmarks.measure import bps, percentile, request_of, timed
from benchmarks.peers.convex import TOLERANCE, optimum
from benchmarks.report import Row, Table
from benchmarks.sections import Entries, Setting
from routing_engine import Router

MARKETS = ((100, 400), (1_000, 4_000))
LARGE = (5_000, 20_000)


def run(setting: Setting) -> Entries:
    """Solve each query as a convex program of all flows, without gas and without limits on hops and paths."""
    rows, above, failed, solved = [], 0, 0, 0
    for tokens, pools in (*MARKETS, LARGE):
        for name, disagreement in (("prices agree", CONSISTENT), ("loops", LOOPS)):
            router = Router(constant_product_market(tokens=tokens, pools=pools, disagreement=disagreement))
            count = 1 if pools == LARGE[1] and not setting.full else 10 if setting.full else 3
            gaps, theirs, ours = {size: [] for size in SIZES}, [], []
            for query in queries(router, count, SIZES, seed=13):
                setting.note(f"convex program, {pools:,} pools, {name}")
                request = request_of(query)
                bound = optimum(router, request)
                result, seconds = timed(lambda r=request, router=router: router.find_routes(r))
                theirs.append(bound.seconds)
                ours.append(seconds)
                if not bound.solved:
                    failed += 1
                    continue
                solved += 1
                got = result.best().amount_out
                gaps[query.size].append(max(0.0, bps(bound.amount_out, got)))
                above += got > bound.amount_out * (1 + TOLERANCE)
            rows.append(
                (
                    f"{tokens:,} / {pools:,}, {name}", *(f"{percentile(gaps[size], 50):.4f}" for size in SIZES),
                    f"{1e3 * percentile(theirs, 50):,.0f}", f"{1e3 * percentile(ours, 50):.2f}",
                )
            )  # fmt: skip
    yield Row(
        what="no route gives more than the convex program's optimum", target="0",
        measured=f"{above} of {solved} ({failed} not solved by Clarabel)", passed=above == 0 and solved > 0,
    )  # fmt: skip
    yield Table(
        title="Below the optimum of all flows (any hops and paths, loops, gas free), median bps by size of trade",
        columns=("tokens / pools", *(f"{size:.2%}" for size in SIZES), "ms Clarabel", "ms ours"),
        rows=tuple(rows),
    )
