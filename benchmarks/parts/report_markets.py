"""``python -m benchmarks.parts.report_markets``: what of recorded markets loads, and how fast every kind of market is.

Times are the least of many runs, which other programs disturb least. Without recorded data (``SHARED_DATA``, by default
``../shared``) only the second table is printed.
"""

from __future__ import annotations

import os
import sys
import timeit
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.parts.market_kinds import samples
from benchmarks.parts.market_shares import REASONS, Share, Why, kind_of, market_files, share_of
from benchmarks.parts.market_updates import SUFFIX, recordings, replay
from routing_engine import formats

REPEATS = 40
LEAST_RUN_S = 0.004

Row = tuple[object, ...]


def main() -> None:
    """Print the tables as Markdown."""
    folder = Path(os.environ.get("SHARED_DATA", "../shared")) / "markets"
    if folder.is_dir():
        shares = [share_of(path) for path in market_files(folder)]
        _print("Recorded pools that load", _share_rows(shares))
        _print("Why the others do not", _reason_rows(shares))
    _print("Exact quotes and float curves", _quote_rows())
    if folder.is_dir():
        _print("Recorded blocks", _update_rows(folder))


def _share_rows(shares: Iterable[Share]) -> Iterator[Row]:
    yield (
        "file",
        "pools",
        "load",
        "refused by default",
        "nothing to trade",
        "incomplete",
        "other kinds",
        "of complete",
    )
    for each in shares:
        counts = (each.count(why) for why in (Why.INEXACT, Why.NOTHING, Why.INCOMPLETE, Why.UNSUPPORTED))
        share = f"{each.share:.1%}" if each.complete else "none complete"
        yield (each.name, each.pools, each.loaded, *counts, share)


def _reason_rows(shares: Iterable[Share]) -> Iterator[Row]:
    yield ("reason", "pools", "kind", "meaning")
    totals: dict[str, int] = {}
    for each in shares:
        for reason, count in each.reasons.items():
            name = reason.split(":")[0]
            totals[name] = totals.get(name, 0) + count
    for name, count in sorted(totals.items(), key=lambda item: -item[1]):
        yield (f"`{name}`", count, kind_of(name).value, REASONS[name][1] if name in REASONS else "")


def _quote_rows() -> Iterator[Row]:
    yield ("market", "exact-in, µs", "quotes a second", "exact-out, µs", "float curve, µs")
    for sample in samples():
        market, way = sample.market, (sample.token_in, sample.token_out)
        bought = market.swap_exact_in(*way, sample.amount)[0].amount_out
        exact_in = _least_us(market.swap_exact_in, *way, sample.amount)
        exact_out = _least_us(market.swap_exact_out, *way, bought)
        curve = _least_us(market.curve, *way)
        yield (sample.name, f"{exact_in:.1f}", round(1e6 / exact_in), f"{exact_out:.0f}", f"{curve:.0f}")


def _update_rows(folder: Path) -> Iterator[Row]:
    yield ("recording", "blocks", "pool states", "read, µs a state", "apply and name, µs a state", "ms a block")
    for recording in recordings(folder):
        read = _least_us(formats.load_deltas, folder / f"{recording.name}{SUFFIX}")
        applied = _least_us(replay, recording)
        yield (
            recording.name,
            len(recording.steps),
            recording.states,
            f"{read / recording.states:.0f}",
            f"{applied / recording.states:.0f}",
            f"{applied / len(recording.steps) / 1e3:.1f}",
        )


def _least_us(call: Callable[..., object], *arguments: Any) -> float:
    """Return the least time of a call, after as many as fill a few milliseconds."""
    timer, number = timeit.Timer(partial(call, *arguments)), 1
    while timer.timeit(number) < LEAST_RUN_S:
        number *= 2
    return min(timer.repeat(REPEATS, number)) / number * 1e6


def _print(title: str, rows: Iterable[Row]) -> None:
    lines = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    lines.insert(1, ["---"] * len(lines[0]))
    sys.stdout.write(f"\n### {title}\n\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in lines))


if __name__ == "__main__":
    main()
