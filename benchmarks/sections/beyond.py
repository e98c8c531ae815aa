"""Amounts far beyond what markets hold: what they cost a batch in which they stand, and what is said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from benchmarks import recorded
from benchmarks.asked import COLUMNS, Asked, ask_all, describe, list_figures
from benchmarks.report import Figure, Row, Table, at_least
from benchmarks.sections import Entries, Setting
from routing_engine import Router

GAS_PRICE = 10 * 10**9
SLOWEST = 10
FACTORS = (10**2, 10**4, 10**8)
"""Sizes beyond depth, as multiples of the scenarios' own, of which the largest takes a part of the depth already."""

HOPELESS = 0.5
"""A price impact above this is no trade that anybody wants."""


def run(setting: Setting) -> Entries:
    """Ask all requests of each recording in one thread, then the scenarios at sizes beyond depth."""
    if not (setting.shared_data / "trades").is_dir():
        yield Row(what="recorded data", target="", measured=f"none at {setting.shared_data}")
        return
    batches: dict[str, list[Asked]] = {}
    beyond: dict[str, list[Asked]] = {}
    figures: list[Figure] = []
    for recording in recorded.RECORDINGS:
        router = Router(recorded.market(setting.shared_data, recording))
        requests, _ = recorded.requests(setting.shared_data, router.snapshot, GAS_PRICE)
        batches[recording] = ask_all(setting, recording, router, requests)
        figures += list_figures(f"{recording}, all requests", batches[recording], router.snapshot.id)
        figures += _batch_figures(recording, batches[recording], router.snapshot.id)
        scenarios, _ = recorded.golden(setting.shared_data, router.snapshot, GAS_PRICE)
        for factor in FACTORS:
            sizes = [replace(each.request, amount=each.request.amount * factor) for each in scenarios]
            name = f"{recording}, scenarios × {factor:,}"
            beyond[name] = ask_all(setting, name, router, sizes)
            figures += list_figures(name, beyond[name], router.snapshot.id)
    every = [each for batch in batches.values() for each in batch]
    for clock in ("wall", "cpu"):
        yield at_least(f"requests a second in one thread, {clock} time", _rate(every, clock), 1_000, "/s")
    yield _batch_table(batches)
    yield Table(title="All of them", columns=COLUMNS, rows=tuple(describe(*each) for each in batches.items()))
    yield Table(title="Beyond depth", columns=COLUMNS, rows=tuple(describe(*each) for each in beyond.items()))
    yield _statuses({**batches, **beyond})
    yield from figures


def _rate(batch: list[Asked], clock: str) -> float:
    return 1e3 * len(batch) / sum(getattr(each, f"{clock}_ms") for each in batch)


def _slowest_share(batch: list[Asked]) -> float:
    """Part of the batch's time that its slowest requests take."""
    times = sorted((each.wall_ms for each in batch), reverse=True)
    return sum(times[:SLOWEST]) / sum(times)


def _batch_table(batches: dict[str, list[Asked]]) -> Table:
    return Table(
        title="Recorded requests with the hopeless ones, at 10 gwei, one after the other in one thread",
        columns=("market", "requests", "a second, wall", "a second, cpu", f"the slowest {SLOWEST}: part of the time"),
        rows=tuple(
            (
                name, str(len(batch)), f"{_rate(batch, 'wall'):,.1f}", f"{_rate(batch, 'cpu'):,.1f}",
                f"{_slowest_share(batch):.0%}",
            )
            for name, batch in batches.items()
        ),
    )  # fmt: skip


def _statuses(groups: dict[str, list[Asked]]) -> Table:
    rows = []
    for name, batch in groups.items():
        found = [each.result.best() for each in batch if each.result.routes]
        counts = Counter(str(each.result.status) for each in batch)
        said = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        rows.append((name, said, str(sum(route.price_impact > HOPELESS for route in found))))
    return Table(
        title="What is said of them",
        columns=("market and amounts", "status", f"found at an impact above {HOPELESS:.0%}"),
        rows=tuple(rows),
    )


def _batch_figures(recording: str, batch: list[Asked], market: str) -> Iterator[Figure]:
    for clock in ("wall", "cpu"):
        what = f"{recording}, all requests: rate by {clock} time"
        yield Figure(what=what, value=_rate(batch, clock), unit="/s", market=market)
    what = f"{recording}, all requests: part of the time for the slowest {SLOWEST}"
    yield Figure(what=what, value=100 * _slowest_share(batch), unit="%", market=market)
