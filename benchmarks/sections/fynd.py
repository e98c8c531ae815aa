"""What Fynd does today, re-created, beside this router: scenarios at five sizes, real requests, an auction's orders.

Whole sections are asked with ``--full``; a quick run takes a part of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks import recorded
from benchmarks.report import Row
from benchmarks.rivals import FEWER, Duel, Rivals, fight, list_figures, show_duels, show_lost
from benchmarks.sections import Entries, Setting
from routing_engine import Router, RouteRequest

FACTORS = (0.1, 1, 3, 10, 30)
STEPS = {"scenarios": 3, "requests": 20, "orders": 10}
"""In a quick run, every so many-th of each."""

Named = list[tuple[str, RouteRequest]]


def run(setting: Setting) -> Entries:
    """Ask everybody on every recorded market."""
    if not (setting.shared_data / "trades").is_dir():
        yield Row(what="recorded data", target="", measured=f"none at {setting.shared_data}")
        return
    duels: list[Duel] = []
    for recording in (*recorded.RECORDINGS, recorded.AUCTION):
        rivals = Rivals(Router(recorded.market(setting.shared_data, recording)))
        for group, requests in _groups(setting, recording, rivals.router).items():
            duels += fight(setting, f"{recording}, {group}", rivals, requests)
    yield from judge(duels)
    yield show_duels("Against Fynd's routers of 2026, re-created: gas free, and net of gas at 10 gwei", duels)
    yield from show_lost(duels)
    yield from list_figures(duels)


def judge(duels: Sequence[Duel]) -> Entries:
    """Yield a row for each peer: how often it is better, equal, or worse."""
    for gas in ("gross", "net"):
        for peer in dict.fromkeys(duel.peer for duel in duels):
            here = [duel for duel in duels if duel.peer == peer and duel.gas == gas]
            answered, lost = sum(duel.answered for duel in here), sum(len(duel.lost) for duel in here)
            equal = sum(duel.equal for duel in here)
            name = "" if peer == FEWER else "Fynd, "
            yield Row(
                what=f"equal or better than {name}{peer}, {gas}", target="100 %",
                measured=f"{answered - lost:,} of {answered:,}, of which {equal:,} equal",
                passed=bool(answered) and not lost, value=100 * (1 - lost / max(1, answered)), unit="%",
            )  # fmt: skip


def _groups(setting: Setting, recording: str, router: Router) -> dict[str, Named]:
    if recording == recorded.AUCTION:
        orders, _ = recorded.orders(setting.shared_data, router.snapshot)
        sales = [(f"order {n}", each.request) for n, each in enumerate(orders) if each.request.side == "exact_in"]
        return {"sell orders": sales if setting.full else sales[:: STEPS["orders"]]}
    scenarios, _ = recorded.golden(setting.shared_data, router.snapshot, 0)
    chosen = scenarios if setting.full else scenarios[:: STEPS["scenarios"]]
    groups = {
        f"scenarios × {factor:g}": [
            (each.name, replace(each.request, amount=max(1, int(each.request.amount * factor)))) for each in chosen
        ]
        for factor in FACTORS
    }
    requests, _ = recorded.requests(setting.shared_data, router.snapshot, 0)
    named = [(f"request {n}", each) for n, each in enumerate(requests)]
    return {**groups, "real requests": named if setting.full else named[:: STEPS["requests"]]}
