"""Fynd's own scenarios on the market it had: its answers, ours, and the times of both."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import recorded
from benchmarks.measure import bps, gap_of, percentile, timed
from benchmarks.report import Row, Table, at_least, at_most, share
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
    route: Route
    seconds: float
    net_gap: float
    gross_gap: float

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
        result, seconds = timed(lambda s=scenario: router.find_routes(s.request))
        gross = router.find_routes(gratis.request)
        cases.append(Case(scenario, result.best(), seconds, gap_of(result), gap_of(gross)))
    yield Row(what="scenarios with both tokens in the market", target="", measured=f"{len(cases)} of {total}")
    yield share("never below Fynd, net of gas", [case.gain >= -ROUNDING_BPS for case in cases], 1)
    gains = [case.gain for case in cases]
    yield at_least("net output above Fynd's, median", percentile(gains, 50), REFERENCE_BPS - 0.5, "bps", digits=4)
    yield share("proven net gap ≤ 1 bps", [case.net_gap <= 1 for case in cases], 0.9)
    yield share("proven gross gap ≤ 0.05 bps", [case.gross_gap <= 0.05 for case in cases], 1)
    times = [1e3 * case.seconds for case in cases]
    yield at_most("time with the certificate, p50", percentile(times, 50), 10, "ms")
    yield at_most("time with the certificate, p95", percentile(times, 95), 40, "ms")
    ratios = [case.scenario.fynd_ms / (1e3 * case.seconds) for case in cases]
    yield Row(
        what="Fynd's published time over ours (its machine, ours): p5, median, p95", target="",
        measured=" / ".join(f"{percentile(ratios, rank):,.0f}" for rank in (5, 50, 95)) + " ×",
    )  # fmt: skip
    yield _table(cases)


def _table(cases: list[Case]) -> Table:
    return Table(
        title="Fynd's scenarios at 10 gwei, net outputs in smallest units",
        columns=("scenario", "Fynd net", "our net", "bps above", "net gap", "gross gap", "hops", "ms Fynd", "ms ours"),
        rows=tuple(
            (
                case.scenario.name, str(case.scenario.fynd_net), str(case.route.amount_out_net), f"{case.gain:.3f}",
                f"{case.net_gap:.3g}", f"{case.gross_gap:.3g}", str(len(case.route.hops)),
                str(case.scenario.fynd_ms), f"{1e3 * case.seconds:.1f}",
            )
            for case in cases
        ),
    )  # fmt: skip
