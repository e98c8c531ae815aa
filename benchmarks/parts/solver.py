"""The recorded auction solved as a driver would ask for it: orders, surplus, time; each order alone, and together."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.parts import Entries, Setting
from benchmarks.parts.recorded_auction import loosen, read_request
from benchmarks.parts.report import Row, Table
from routing_engine.auction.model import Auction, Solution
from routing_engine.auction.reading import read_auction
from routing_engine.auction.solutions import score_directions
from routing_engine.auction.solver import Solved, solve_auction

ETHER = 10**18
PATIENT_S, DEADLINE_S = 300.0, 10.0
LOOSENED = 3, 6
COLUMNS = (
    "",
    "solutions",
    "orders alone",
    "ETH alone",
    "orders",
    "ETH",
    "in one batch",
    "ETH in it",
    "wall s",
    "CPU s",
)


@dataclass(frozen=True, slots=True)
class Timed:
    """A solved auction, and what it took."""

    solved: Solved
    wall_s: float
    cpu_s: float


def run(setting: Setting) -> Entries:
    """Solve the auction as it was recorded, and with limits that more orders reach."""
    if not (setting.shared_data / "trades").is_dir():
        yield Row(what="recorded data", target="", measured=f"none at {setting.shared_data}")
        return
    body = read_request(setting.shared_data)
    begun = time.perf_counter()
    auction = read_auction(body)
    measured = f"{len(auction.orders)} orders, {len(auction.markets)} pools in {time.perf_counter() - begun:.2f} s"
    yield Row(what="read", target="", measured=measured)
    solve_auction(auction, longest_s=1)  # whatever is prepared once is prepared now
    rows = []
    for percent in (0, *LOOSENED[: 2 if setting.full else 1]):
        setting.note(f"the auction, limits loosened by {percent} %")
        eased = read_auction(loosen(body, percent))
        name = f"limits loosened by {percent} %" if percent else "as recorded"
        rows.append(_describe(name, _solve(eased, PATIENT_S)))
        if percent:
            rows.append(_describe(f"{name}, {DEADLINE_S:g} s", _solve(eased, DEADLINE_S)))
    yield Table(title="A CoW auction, solved", columns=COLUMNS, rows=tuple(rows))


def _solve(auction: Auction, longest_s: float) -> Timed:
    wall, cpu = time.perf_counter(), time.process_time()
    solved = solve_auction(auction, longest_s=longest_s)
    return Timed(solved, time.perf_counter() - wall, time.process_time() - cpu)


def _describe(name: str, timed: Timed) -> tuple[str, ...]:
    solutions = timed.solved.solutions
    alone = [*pick(each for each in solutions if len(each.trades) == 1)]
    together = [*pick(solutions)]
    largest = max(solutions, key=lambda each: len(each.trades), default=None)
    return (
        name,
        str(len(solutions)),
        *_count(alone),
        *_count(together),
        *_count([largest] if largest and len(largest.trades) > 1 else []),
        f"{timed.wall_s:.1f}",
        f"{timed.cpu_s:.1f}",
    )


def pick(solutions: Iterable[Solution]) -> Iterator[Solution]:
    """Yield what the protocol would let win if nobody else bid: the highest scores that share no directed pair."""
    taken: set[object] = set()
    for solution in sorted(solutions, key=lambda each: -each.score):
        directions = score_directions(solution).keys()
        if taken.isdisjoint(directions):
            taken |= directions
            yield solution


def _count(solutions: list[Solution]) -> tuple[str, str]:
    orders = sum(len(each.trades) for each in solutions)
    return str(orders), f"{sum(each.score for each in solutions) / ETHER:.4f}"
