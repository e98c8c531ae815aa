"""Ten thousand real trades of February 2026 on each recorded market that has their tokens, peers on some of them."""

from __future__ import annotations

from benchmarks import recorded
from benchmarks.asked import COLUMNS, Asked, ask_all, describe, list_figures, proven
from benchmarks.measure import percentile
from benchmarks.report import Figure, Row, Table, at_most, share
from benchmarks.rivals import Duel, Rivals, fight, show_duels, show_lost
from benchmarks.rivals import list_figures as list_duels
from benchmarks.sections import Entries, Setting
from benchmarks.sections.fynd import judge
from routing_engine import Router

GAS_PRICE = 10 * 10**9
EVERY = 5
"""In a quick run, every so many-th trade is asked."""

FOR_PEERS, FOR_PEERS_FULL = 400, 20
"""Every so many-th trade is asked of peers too."""


def run(setting: Setting) -> Entries:
    """Ask each trade once, as a sale of its amount."""
    if not (setting.shared_data / "trades" / recorded.TRADES).is_file():
        yield Row(what="recorded data", target="", measured=f"none at {setting.shared_data}")
        return
    groups: dict[str, list[Asked]] = {}
    known: list[tuple[str, ...]] = []
    duels: list[Duel] = []
    figures: list[Figure] = []
    for recording in (*recorded.RECORDINGS, recorded.AUCTION):
        router = Router(recorded.market(setting.shared_data, recording))
        requests, total = recorded.trades(setting.shared_data, router.snapshot, GAS_PRICE)
        known.append((recording, f"{len(requests):,} of {total:,}"))
        groups[recording] = ask_all(setting, recording, router, requests if setting.full else requests[::EVERY])
        figures += list_figures(recording, groups[recording], router.snapshot.id)
        step = FOR_PEERS_FULL if setting.full else FOR_PEERS
        named = [(f"trade {number}", request) for number, request in enumerate(requests)][::step]
        duels += fight(setting, f"{recording}, every {step}th trade", Rivals(router), named)
    every = [each for group in groups.values() for each in group]
    for clock in ("wall", "cpu"):
        times = [getattr(each, f"{clock}_ms") for each in every]
        yield at_most(f"{clock} time of the first call, p50", percentile(times, 50), 1, "ms")
        yield at_most(f"{clock} time of the first call, p95", percentile(times, 95), 10, "ms")
    yield share("proven net gap ≤ 1 bps", proven(every), 0.9)
    yield from judge(duels)
    yield Table(title="Trades whose tokens a recording has", columns=("market", "both tokens"), rows=tuple(known))
    yield Table(
        title="Each asked once, at 10 gwei" if setting.full else f"Every {EVERY}th asked once, at 10 gwei",
        columns=COLUMNS,
        rows=tuple(describe(*each) for each in groups.items()),
    )
    yield show_duels("Against Fynd's routers of 2026, re-created", duels)
    yield from show_lost(duels)
    yield from figures
    yield from list_duels(duels)
