"""One kind of generated market in five sizes, to 200,000 pools: how time and memory grow."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.harness.suite import Arena
from benchmarks.suites.quick import make_larger

SIZES = (2_000, 6_000, 20_000, 60_000, 200_000)
PAIRS = 4


def list_arenas() -> Iterator[Arena]:
    """Yield the markets, the smallest first."""
    for pools in SIZES:
        yield make_larger(pools, PAIRS)
