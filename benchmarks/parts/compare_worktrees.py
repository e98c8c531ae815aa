"""Compare the speed of two versions: ``python -m benchmarks.parts.compare_worktrees BEFORE AFTER --runs 20``.

Each version is a worktree with its own code and runs in a process of its own. The two take turns at the same requests,
so whatever else the machine does slows both alike. The ratio of processor times is taken for each turn; below 1 the
second version is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import median

PATIENT_MS = 600_000
GAS_PRICE = 10**10
EVERY = 40
"""One in so many of the recorded requests is asked."""


def main() -> None:
    """Alternate runs and print the median ratio of each kind of request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="a worktree")
    parser.add_argument("after", type=Path, help="another one")
    parser.add_argument("--runs", type=int, default=20, help="runs of each")
    parser.add_argument("--data", type=Path, default=os.environ.get("SHARED_DATA"), help="folder of recorded data")
    options = parser.parse_args()
    workers = [start_worker(tree.resolve(), options.data) for tree in (options.before, options.after)]
    turns = [[run_once(worker) for worker in workers] for _ in range(options.runs)]
    for worker in workers:
        worker.communicate()
    print(f"{'requests':<32} {'before':>10} {'after':>10} {'ratio':>8}   ms, medians of {options.runs} runs")
    for kind in turns[0][0]:
        times = [[1e3 * run[kind] for run in turn] for turn in turns]
        before, after = (median(turn[place] for turn in times) for place in range(2))
        ratio = median(turn[1] / turn[0] for turn in times)
        print(f"{kind:<32} {before:>10.2f} {after:>10.2f} {ratio:>8.3f}")


def start_worker(tree: Path, data: Path | None) -> subprocess.Popen[str]:
    """Start a process that has the code of a worktree and answers each line of its input with a run."""
    command = [sys.executable, "-P", __file__, *([str(data)] if data else [])]
    environment = os.environ | {"PYTHONPATH": str(tree), WORKER: "1"}
    return subprocess.Popen(
        command, cwd=tree, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def run_once(worker: subprocess.Popen[str]) -> Mapping[str, float]:
    """Let a worker run; return seconds by kind of request."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write("\n")
    worker.stdin.flush()
    found: Mapping[str, float] = json.loads(worker.stdout.readline())
    return found


WORKER = "COMPARED_WORKTREE"
"""Set in the environment of processes that run the requests."""


def answer_lines(data: Path | None) -> None:
    """Run all requests once to warm up, then once for each line of the input."""
    from benchmarks import recorded
    from benchmarks.instances import constant_product_market, queries
    from routing_engine import Router, RouteRequest, Snapshot

    generated = Router(constant_product_market())
    asked = [
        RouteRequest(token_in=each.token_in, token_out=each.token_out, amount=each.amount, time_budget_ms=PATIENT_MS)
        for each in queries(generated, 4)
    ]
    groups = {
        "generated, single path": (generated, [replace(each, max_splits=1) for each in asked]),
        "generated, split": (generated, asked),
        "generated, split, gas": (generated, [replace(each, gas_prices={1: GAS_PRICE}) for each in asked]),
        "generated, exact out": (generated, [replace(each, side="exact_out") for each in asked]),
    }
    sandbox = Snapshot.sandbox()
    ends = [sandbox.token(name) for name in ("WETH@1", "USDC@1", "USDC@8453", "WETH@10")]
    pairs = [(first, second) for first in ends for second in ends if first != second]
    crossing = [RouteRequest(token_in=a, token_out=b, amount=10 ** (a.decimals + 1)) for a, b in pairs]
    groups["sandbox, across chains"] = Router(sandbox), crossing
    if data:
        market = recorded.market(data, recorded.GOLDEN_RECORDING, recorded.GOLDEN_BLOCK)
        requests, _ = recorded.requests(data, market, GAS_PRICE)
        groups["recorded, gas"] = Router(market), requests[::EVERY]
    for line in chain([None], sys.stdin):
        seconds = {}
        for kind, (router, requests) in groups.items():
            started = time.thread_time()
            for request in requests:
                router.find_routes(request)
            seconds[kind] = time.thread_time() - started
        if line is not None:
            print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    if os.environ.get(WORKER):
        answer_lines(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    else:
        main()
