"""Requests with ever more hops and paths, sold and bought back: where more to choose from gave less.

``python -m benchmarks.parts.more_to_choose FILE [MARKET ...]`` writes a line of JSON for each worse case and a summary
for each market: the recordings, the auction's orders, and generated dirty markets as ``dirty FIRST LAST``. Quality and
counted work only, so it may run beside other programs.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import recorded
from benchmarks.measure import PATIENT_MS, bps
from routing_engine import Router, RouteRequest, RouteResult, Snapshot
from routing_engine.deadline import STEPS, UNLIMITED_WORK
from routing_engine.request import DEFAULT_MAX_HOPS, MAX_SPLITS
from tests.support.dirty_markets import make_market, units

SHARED = Path(os.environ.get("SHARED_DATA", "../shared"))
GAS_PRICE = 10**10
FACTORS = (10, 30, 3, 1, 0.1)
HOPS, SPLITS = (2, 3, 4, 6), (1, 4, 16, 64)
SOME_HOPS, MOST_SPLITS = 4, 64
LIMIT_BPS, ROUNDING_BPS, UNITS = 0.1, 1e-4, 8
"""What a purchase may cost more than its sale; what a division may lose by rounding, and units of the coarsest token on
the way that are left free where a market is full."""

Choice = tuple[int, int]
CHOICES: list[Choice] = [
    (hops, splits) for hops, splits in product(HOPS, SPLITS) if hops == SOME_HOPS or splits == MOST_SPLITS
]
USUAL: list[Choice] = [(DEFAULT_MAX_HOPS, MAX_SPLITS)]
"""Most hops and most paths: those between which answers are compared, and those of a usual request."""

Question = tuple[str, Router, RouteRequest]


class Counting(Router):
    """A router that knows how much work its last question took."""

    def _start_query(self, request: RouteRequest, without: frozenset[str] = frozenset()) -> Any:
        query = super()._start_query(request, without)
        self.last = query.budget
        return query

    def ask(self, request: RouteRequest) -> tuple[RouteResult, float]:
        """Return an answer and its units of work."""
        result = self.find_routes(request)
        return result, (UNLIMITED_WORK - self.last.steps_left) / STEPS


class Report:
    """Lines for worse cases, and sums."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("a")  # noqa: SIM115
        self.sums: dict[str, float] = {}

    def add(self, what: str, by: float = 1) -> None:
        self.sums[what] = self.sums.get(what, 0) + by

    def write(self, **fields: object) -> None:
        self._file.write(json.dumps(fields) + "\n")
        self._file.flush()


def main() -> None:
    """Ask everything of the markets named."""
    path, *names = sys.argv[1:]
    for name in names:
        report = Report(path)
        choices = USUAL if name == recorded.AUCTION else CHOICES
        for number, (what, router, request) in enumerate(list_questions(name)):
            check(report, f"{name}: {what}", router, request, choices)
            if number % 20 == 0:
                print(name, number, report.sums, flush=True)
        report.write(market=name, **report.sums)
        print(name, report.sums, flush=True)


def list_questions(name: str) -> Iterator[tuple[str, Counting, RouteRequest]]:
    """Yield sales."""
    if name.startswith("dirty"):
        first, last = map(int, name.split()[1:])
        for seed in range(first, last):
            rng = random.Random(f"attack {seed}")
            markets, token_in, token_out = make_market(rng)
            router = Counting(Snapshot(markets, gas_prices={1: rng.choice((0, 10**9, 2 * 10**10))}))
            amount = units(token_in, 10 ** rng.uniform(1, 6.5))
            yield str(seed), router, RouteRequest(token_in=token_in, token_out=token_out, amount=amount)
        return
    router = Counting(recorded.market(SHARED, name))
    if name == recorded.AUCTION:
        for number, order in enumerate(recorded.orders(SHARED, router.snapshot, GAS_PRICE)[0]):
            sold = order.request.side == "exact_in"
            amount = order.request.amount if sold else order.limit
            yield str(number), router, replace(order.request, side="exact_in", amount=amount)
        return
    for factor in FACTORS:
        for each in recorded.golden(SHARED, router.snapshot, GAS_PRICE)[0]:
            yield f"{each.name} x {factor}", router, replace(each.request, amount=int(each.request.amount * factor))


def check(report: Report, name: str, router: Counting, request: RouteRequest, choices: list[Choice]) -> None:
    """Sell and buy back with all choices."""
    request = replace(request, time_budget_ms=PATIENT_MS)
    sold, bought = dict[Choice, RouteResult](), dict[Choice, RouteResult]()
    for choice in choices:
        asked = replace(request, max_hops=choice[0], max_splits=choice[1])
        sold[choice], spent = router.ask(asked)
        report.add("asked sales")
        report.add("work of sales", spent)
        if sold[choice].routes:
            amount = sold[choice].best().amount_out
            back, again = router.ask(replace(asked, side="exact_out", amount=amount))
            report.add("asked round trips")
            report.add("work of round trips", again)
            compare_trip(report, name, choice, sold[choice], back, spent, again)
    compare(report, name, sold)
    if len(choices) == 1 or not sold[choices[-1]].routes:
        return
    amount = sold[choices[-1]].best().amount_out
    for choice in choices:
        asked = replace(request, max_hops=choice[0], max_splits=choice[1], side="exact_out", amount=amount)
        bought[choice], spent = router.ask(asked)
        report.add("asked purchases")
        report.add("work of purchases", spent)
    compare(report, name, bought)


def compare_trip(
    report: Report, name: str, choice: Choice, sold: RouteResult, back: RouteResult, spent: float, again: float
) -> None:
    """Report what costs more than it was sold for."""
    if not back.routes:
        report.add("not found")
        report.write(what="not found", name=name, choice=choice)
        return
    above = bps(back.best().amount_in_gross, sold.best().amount_in_gross)
    alone = bps(back.best().amount_in, sold.best().amount_in)
    if above > LIMIT_BPS:
        report.add("dearer")
        report.write(
            what="dearer", name=name, choice=choice, bps=above, input_bps=alone, gap=get_gap(back), work=again,
            sold_gap=get_gap(sold), sold_work=spent, counts=(len(sold.best().paths), len(back.best().paths)),
            amount=back.best().amount_in,
        )  # fmt: skip


def compare(report: Report, name: str, answers: dict[Choice, RouteResult]) -> None:
    """Report answers that are worse than the best one with one step less of one kind, or that lack."""
    for (hops, splits), after in answers.items():
        fewer = [(HOPS[HOPS.index(hops) - 1], splits)] if hops in HOPS[1:] else []
        fewer += [(hops, SPLITS[SPLITS.index(splits) - 1])] if splits in SPLITS[1:] else []
        for choice in answers.keys() & fewer:
            before = answers[choice]
            if not before.routes:
                continue
            report.add("compared")
            side = str(after.request.side)
            loss = float("inf")
            if after.routes:
                now, then = after.best().net_amount, before.best().net_amount
                lost = now - then if side == "exact_out" else then - now
                coarse = min(hop.amount_out for each in (before, after) for hop in each.best().hops)
                if lost <= 2 + (ROUNDING_BPS / 1e4 + UNITS / coarse) * abs(then):
                    continue
                loss = 1e4 * lost / max(1, abs(then))
            kind = f"worse {side} with more {'hops' if choice[0] < hops else 'splits'}"
            report.add(kind)
            report.write(
                what=kind, name=name, choice=(hops, splits), before=choice, bps=loss, gap=get_gap(after),
                before_gap=get_gap(before),
            )  # fmt: skip


def get_gap(result: RouteResult) -> float | None:
    """Return the proven gap."""
    return result.certificate.gap_bps if result.certificate else None


if __name__ == "__main__":
    main()
