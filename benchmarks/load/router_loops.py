"""The router by itself, in a loop in one process for each processor: ``python -m … POOLS CHANGES``.

It finds the routes that the service's quotes ask for, by the same options, on the same market as changed as often.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from api.config import count_processors
from benchmarks.instances import constant_product_market
from benchmarks.load.changing_market import EVERY_S, SEED, change, list_requests
from benchmarks.load.client import CLIENTS, Measured
from routing_engine import Router


class RouterLoops:
    """Processes that each find routes when they are told to.

    Parameters
    ----------
    processes : sequence of Popen
        Ready.
    """

    def __init__(self, processes: list[subprocess.Popen[str]]) -> None:
        self._processes = processes
        for each in processes:
            self._read(each)

    def measure(self, seconds: int) -> tuple[Measured, float]:
        """Let all find routes for so many seconds at once; return what they found together, and the wait in line."""
        for each in self._processes:
            self._tell(each, seconds)
        found = [self._read(each) for each in self._processes]
        count, slowest = sum(each["found"] for each in found), max(each["p99_ms"] for each in found)
        rate = sum(each["found"] / each["seconds"] for each in found)
        cpu_ms = sum(each["cpu_ms"] for each in found) / max(1.0, count)
        measured = Measured(rate=rate, p99_ms=slowest, cpu_ms=cpu_ms, refused=0)
        return measured, max(each["line_p99_ms"] for each in found)

    @staticmethod
    def _tell(process: subprocess.Popen[str], seconds: int) -> None:
        if process.stdin is None:
            raise TypeError("a loop takes no orders")
        process.stdin.write(f"{seconds}\n")
        process.stdin.flush()

    @staticmethod
    def _read(process: subprocess.Popen[str]) -> dict[str, float]:
        if process.stdout is None:
            raise TypeError("a loop says nothing")
        said: dict[str, float] = json.loads(process.stdout.readline())
        return said


@contextmanager
def run_router_loops(pools: int, changes: int) -> Iterator[RouterLoops]:
    """Have one loop for each processor until the block ends."""
    command = [sys.executable, "-m", __name__, str(pools), str(changes)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(count_processors())
    ]
    try:
        yield RouterLoops(processes)
    finally:
        for each in processes:
            each.kill()
            each.communicate()


def wait_in_line(took: Sequence[float], callers: int) -> list[float]:
    """Return how long each search and those before it take together, with so many callers who ask again at once.

    A loop has one caller, the service has several for each processor: whoever comes finds the others before him.
    """
    return [sum(took[first : first + callers]) for first in range(max(1, len(took) - callers + 1))]


def find_p99(seconds: Sequence[float]) -> float:
    """Return within how many milliseconds 99 of 100 ended."""
    return sorted(seconds)[len(seconds) * 99 // 100] * 1000


def main() -> None:
    """Get ready; then find routes for as many seconds as each line says."""
    pools, changes = map(int, sys.argv[1:])
    rng, snapshot = random.Random(SEED), constant_product_market(pools=pools)
    for _ in range(changes):
        snapshot = change(snapshot, rng)
    router, requests = Router(snapshot), list_requests(pools)
    router.find_routes(requests[0])
    print("{}", flush=True)
    for line in sys.stdin:
        began, spent, took = time.monotonic(), time.process_time(), []
        due = began + EVERY_S
        while (now := time.monotonic()) < began + int(line):
            if now > due:
                snapshot, due = change(snapshot, rng), due + EVERY_S
                router = router.follow(snapshot)
            router.find_routes(requests[len(took) % len(requests)])
            took.append(time.monotonic() - now)
        told = {
            "found": len(took),
            "seconds": time.monotonic() - began,
            "cpu_ms": (time.process_time() - spent) * 1000,
            "p99_ms": find_p99(took),
            "line_p99_ms": find_p99(wait_in_line(took, CLIENTS // count_processors())),
        }
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
