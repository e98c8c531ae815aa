"""Fynd 0.19's own scenarios on the market it had: its answers, single paths all of them, ours, and both times."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import recorded
from benchmarks.asked import COLUMNS, Asked, ask, describe, list_figures
from benchmarks.measure import bps, gap_of, percentile
from benchmarks.report import Figure, Row, Table, at_least, at_most, share
from benchmarks.sections import Entries, Setting
from routing_engine import Route, Router

GWEI = 10**9
GAS_PRICE = 10 * GWEI
REFERENCE_BPS = 563
"""Median by which an independent reference's net output was above Fynd's on these scenarios (v2 and v3 pools only)."""

ROUNDING_BPS = 1e-5


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario's outcome."""

    scenario: recorded.Scenario
    asked: Asked
    gross_gap: float

    @property
    def route(self) -> Route:
        """Our route, net of gas."""
        return self.asked.result.best()

    @property
    def gain(self) -> float:
        """Our net output above Fynd's in bps."""
        return bps(self.route.amount_out_net, self.scenario.fynd_net)


def run(setting: Setting) -> Entries:
    """Replay the deltas to Fynd's block and ask its questions, at 10 gwei."""
    if not (setting.shared_data / "trades").is_dir():
        yield Row(what="recorded data", target="", measured=f"none at {setting.shared_data}")
        return
    snapshot = recorded.market(setting.shared_data, recorded.GOLDEN_RECORDING, recorded.GOLDEN_BLOCK)
    router = Router(snapshot)
    scenarios, total = recorded.golden(setting.shared_data, snapshot, GAS_PRICE)
    free, _ = recorded.golden(setting.shared_data, snapshot, 0)
    cases = []
    for number, (scenario, gratis) in enumerate(zip(scenarios, free, strict=True)):
        setting.note(f"{number} of {len(scenarios)}")
        asked = ask(router, scenario.request)
        cases.append(Case(scenario, asked, gap_of(router.find_routes(gratis.request))))
    yield Row(what="scenarios with both tokens in the market", target="", measured=f"{len(cases)} of {total}")
    yield share("never below Fynd 0.19, a single path, net of gas", [case.gain >= -ROUNDING_BPS for case in cases], 1)
    gains = [case.gain for case in cases]
    yield at_least(
        "net output above Fynd 0.19's single paths, median: what splitting itself gives",
        percentile(gains, 50),
        REFERENCE_BPS - 0.5,
        "bps",
        digits=4,
    )
    yield share("proven net gap ≤ 1 bps", [case.asked.gap <= 1 for case in cases], 0.9)
    yield share("proven gross gap ≤ 0.05 bps", [case.gross_gap <= 0.05 for case in cases], 1)
    for clock in ("wall", "cpu"):
        times = [getattr(case.asked, f"{clock}_ms") for case in cases]
        yield at_most(f"{clock} time of the first call with the certificate, p50", percentile(times, 50), 10, "ms")
        yield at_most(f"{clock} time of the first call with the certificate, p95", percentile(times, 95), 40, "ms")
    ratios = [case.scenario.fynd_ms / case.asked.wall_ms for case in cases]
    yield Row(
        what="Fynd 0.19's published time over our wall time (its machine, ours): p5, median, p95", target="",
        measured=" / ".join(f"{percentile(ratios, rank):,.0f}" for rank in (5, 50, 95)) + " ×",
    )  # fmt: skip
    answers = [case.asked for case in cases]
    yield Table(title="Each asked once", columns=COLUMNS, rows=(describe(f"{len(cases)} scenarios", answers),))
    yield _table(cases)
    yield from list_figures("scenarios", answers, snapshot.id)
    for case in cases:
        what = f"{case.scenario.name}: net output"
        yield Figure(what=what, value=case.route.amount_out_net, unit="smallest units", market=snapshot.id)


def _table(cases: list[Case]) -> Table:
    return Table(
        title="Fynd's scenarios at 10 gwei, net outputs in smallest units",
        columns=(
            "scenario", "Fynd net", "our net", "bps above", "net gap", "gross gap", "hops", "ms Fynd", "wall ms",
            "cpu ms",
        ),
        rows=tuple(
            (
                case.scenario.name, str(case.scenario.fynd_net), str(case.route.amount_out_net), f"{case.gain:.3f}",
                f"{case.asked.gap:.3g}", f"{case.gross_gap:.3g}", str(len(case.route.hops)),
                str(case.scenario.fynd_ms), f"{case.asked.wall_ms:.1f}", f"{case.asked.cpu_ms:.1f}",
            )
            for case in cases
        ),
    )  # fmt: skip
