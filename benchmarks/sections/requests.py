"""A thousand real sell orders on each Ethereum recording, at a usual and at a low gas price."""

from __future__ import annotations

from dataclasses import replace

from benchmarks import recorded
from benchmarks.measure import gap_of, percentile, timed
from benchmarks.report import Row, Table, at_most, share
from benchmarks.sections import Entries, Setting
from routing_engine import Router, RouteResult

GAS_PRICES = {"10 gwei": 10 * 10**9, "0.134 gwei": 134 * 10**6}
EVERY = 10
"""In a quick run, every so many-th request."""


def run(setting: Setting) -> Entries:
    """Ask all requests whose tokens a recording has."""
    if not (setting.shared_data / "trades").is_dir():
        yield Row(what="recorded data", target="", measured=f"none at {setting.shared_data}")
        return
    rows, below = [], []
    gaps: dict[str, list[float]] = {name: [] for name in GAS_PRICES}
    times: list[float] = []
    for recording in recorded.RECORDINGS:
        router = Router(recorded.market(setting.shared_data, recording))
        for name, price in GAS_PRICES.items():
            requests, total = recorded.requests(setting.shared_data, router.snapshot, price)
            asked = requests if setting.full else requests[::EVERY]
            results: list[tuple[RouteResult, float]] = []
            for number, request in enumerate(asked):
                setting.note(f"{recording}, {name}, {number} of {len(asked)}")
                result, seconds = timed(lambda r=request, router=router: router.find_routes(r))
                results.append((result, 1e3 * seconds))
                if result.routes:
                    single = router.find_routes(replace(request, max_splits=1)).best()
                    below.append(result.best().amount_out_net < single.amount_out_net)
            found = [(result, ms) for result, ms in results if result.routes]
            gaps[name] += [gap_of(result) for result, _ in found]
            times += [ms for _, ms in found]
            rows.append(_row(f"{recording}, {name}", found, len(asked), len(requests), total))
    yield share("real requests: never below the best path, net of gas", [not each for each in below], 1)
    usual, low = gaps.values()
    yield share("proven net gap ≤ 0.01 bps at 10 gwei", [gap <= 0.01 for gap in usual], 0.8)
    yield share("proven net gap ≤ 1 bps at 10 gwei", [gap <= 1 for gap in usual], 0.93)
    yield share("proven net gap ≤ 1 bps at 0.134 gwei", [gap <= 1 for gap in low], 0.7)
    yield at_most("time with the certificate, p50", percentile(times, 50), 1, "ms")
    yield at_most("time with the certificate, p95", percentile(times, 95), 10, "ms")
    yield Table(
        title="Real requests; both tokens: of the 1,000 orders, how many have both tokens in the recording",
        columns=("market", "asked", "both tokens", "routed", "divided", "ms p50", "ms p95", "gap bps p50", "p95"),
        rows=tuple(rows),
    )


def _row(name: str, found: list[tuple[RouteResult, float]], asked: int, known: int, total: int) -> tuple[str, ...]:
    times, gaps = [ms for _, ms in found], [gap_of(result) for result, _ in found]
    divided = sum(len(result.best().paths) > 1 for result, _ in found)
    return (
        name, str(asked), f"{known} of {total}", f"{len(found) / max(1, asked):.1%}",
        f"{divided / max(1, len(found)):.1%}", f"{percentile(times, 50):.2f}", f"{percentile(times, 95):.2f}",
        f"{percentile(gaps, 50):.3g}", f"{percentile(gaps, 95):.3g}",
    )  # fmt: skip
