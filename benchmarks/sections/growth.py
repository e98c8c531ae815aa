"""From 2,000 to 200,000 pools: time per query, memory, building and updating, one fresh process a size."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path

import matplotlib
import psutil

from benchmarks.instances import constant_product_market, queries
from benchmarks.measure import percentile, request_of, timed
from benchmarks.report import Row, Table
from benchmarks.sections import Entries, Setting
from benchmarks.sections.live import BATCH, updates
from routing_engine import Router
from routing_engine.warm_up import warm_up

POOLS = (2_000, 6_000, 20_000, 60_000, 200_000)
POOLS_PER_TOKEN = 4
QUERIES = 20
SIZES = (0.001, 0.01)

Figures = dict[str, float]

SERIES = {
    "best path, ≤ 3 hops": "path_ms",
    "divided route with certificate": "route_ms",
    "building a router": "build_ms",
    f"router after {BATCH:,} updates": "update_ms",
}
"""What is plotted against the number of pools: a name and a key of the figures."""


def run(setting: Setting) -> Entries:
    """Measure every size in a process of its own, so that memory is that size's alone."""
    found = []
    for pools in POOLS:
        setting.note(f"{pools:,} pools")
        command = [sys.executable, "-m", "benchmarks.sections.growth", str(pools)]
        found.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    for name, key in (("best path, ≤ 3 hops", "path_ms"), ("divided route with certificate", "route_ms")):
        factor = found[-1][key] / found[0][key]
        yield Row(
            what=f"{name}: times the time from {POOLS[0]:,} to {POOLS[-1]:,} pools, median",
            target=f"< {POOLS[-1] // POOLS[0]} ×", measured=f"{factor:.1f} ×", passed=factor < POOLS[-1] / POOLS[0],
        )  # fmt: skip
    yield Table(
        title="Growth: four pools a token, medians",
        columns=("pools", "best path ms", "divided ms", "p95", "build ms", f"{BATCH:,} updates ms", "MB"),
        rows=tuple(
            (
                f"{pools:,}", f"{row['path_ms']:.3f}", f"{row['route_ms']:.2f}", f"{row['route_p95_ms']:.2f}",
                f"{row['build_ms']:,.0f}", f"{row['update_ms']:.2f}", f"{row['megabytes']:,.0f}",
            )
            for pools, row in zip(POOLS, found, strict=True)
        ),
    )  # fmt: skip
    _plot(found, setting.out / "growth.svg")


def measure(pools: int) -> Figures:
    """Return the figures of one size; meant for a fresh process."""
    warm_up()
    before = _megabytes()
    snapshot = constant_product_market(tokens=pools // POOLS_PER_TOKEN, pools=pools)
    router, build = timed(lambda: Router(snapshot), repeats=1)
    megabytes = _megabytes() - before
    asked = queries(router, QUERIES, SIZES)
    single = [request_of(query, max_hops=3, max_splits=1) for query in asked]
    divided = [request_of(query) for query in asked]
    paths, routes = ([timed(lambda r=r: router.find_routes(r))[1] for r in requests] for requests in (single, divided))
    _, update = updates(router)
    return {
        "path_ms": 1e3 * percentile(paths, 50),
        "route_ms": 1e3 * percentile(routes, 50),
        "route_p95_ms": 1e3 * percentile(routes, 95),
        "build_ms": 1e3 * build,
        "update_ms": 1e3 * update,
        "megabytes": megabytes,
    }


def _megabytes() -> float:
    """Memory of this process, as it is now."""
    gc.collect()
    return psutil.Process().memory_info().rss / 2**20


def _plot(found: list[Figures], path: Path) -> None:
    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    plt.rcParams |= {"svg.hashsalt": "growth", "svg.fonttype": "none"}
    figure, (times, memory) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", width_ratios=(3, 2))
    for name, key in SERIES.items():
        times.plot(POOLS, [row[key] for row in found], marker="o", markersize=4, label=name)
    proportional = [found[0]["path_ms"] * pools / POOLS[0] for pools in POOLS]
    times.plot(POOLS, proportional, linestyle=":", color="grey", label="what grows as the pools do")
    times.set(ylabel="milliseconds, median")
    times.legend(frameon=False, fontsize=8)
    memory.plot(POOLS, [row["megabytes"] for row in found], marker="o", markersize=4, color="black")
    memory.set(ylabel="megabytes: markets and arrays")
    for axes in (times, memory):
        axes.set(xscale="log", yscale="log", xlabel="pools")
        axes.set_xticks(POOLS, [f"{pools // 1000}k" for pools in POOLS])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
