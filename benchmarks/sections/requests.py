"""A thousand real sell orders on each Ethereum recording, at a usual and at a low gas price: each of them once."""

from __future__ import annotations

from dataclasses import replace

from benchmarks import recorded
from benchmarks.asked import COLUMNS, Asked, ask_all, describe, list_figures, proven, routed
from benchmarks.measure import percentile
from benchmarks.report import Figure, Row, Table, at_most, share
from benchmarks.sections import Entries, Setting
from routing_engine import Router

GAS_PRICES = {"10 gwei": 10 * 10**9, "0.134 gwei": 134 * 10**6}
EVERY = 10
"""In a quick run, every so many-th request is asked for one path too."""


def run(setting: Setting) -> Entries:
    """Ask all requests whose tokens a recording has."""
    if not (setting.shared_data / "trades").is_dir():
        yield Row(what="recorded data", target="", measured=f"none at {setting.shared_data}")
        return
    groups: dict[str, list[Asked]] = {}
    by_price: dict[str, list[Asked]] = {name: [] for name in GAS_PRICES}
    shares, below = [], []
    figures: list[Figure] = []
    for recording in recorded.RECORDINGS:
        router = Router(recorded.market(setting.shared_data, recording))
        for name, price in GAS_PRICES.items():
            requests, total = recorded.requests(setting.shared_data, router.snapshot, price)
            group = f"{recording}, {name}"
            groups[group] = answers = ask_all(setting, group, router, requests)
            by_price[name] += answers
            shares.append(_describe_shares(group, answers, total))
            figures += list_figures(group, answers, router.snapshot.id)
            checked = routed(answers if setting.full else answers[::EVERY])
            below += [_is_below_single(router, each) for each in checked]
    yield share("real requests: never below the best path, net of gas", [not each for each in below], 1)
    usual, low = by_price.values()
    yield share("proven net gap ≤ 0.01 bps at 10 gwei", proven(usual, 0.01), 0.8)
    yield share("proven net gap ≤ 1 bps at 10 gwei", proven(usual), 0.93)
    yield share("proven net gap ≤ 1 bps at 0.134 gwei", proven(low), 0.7)
    for clock in ("wall", "cpu"):
        times = [getattr(each, f"{clock}_ms") for each in usual + low]
        yield at_most(f"{clock} time of the first call with the certificate, p50", percentile(times, 50), 1, "ms")
        yield at_most(f"{clock} time of the first call with the certificate, p95", percentile(times, 95), 10, "ms")
    yield Table(
        title="Real requests, each asked once, with those that no market can serve",
        columns=COLUMNS,
        rows=tuple(describe(*each) for each in groups.items()),
    )
    yield Table(
        title="Both tokens: of the 1,000 orders, how many have both tokens in the recording",
        columns=("market", "both tokens", "divided"),
        rows=tuple(shares),
    )
    yield from figures


def _is_below_single(router: Router, asked: Asked) -> bool:
    single = router.find_routes(replace(asked.request, max_splits=1))
    return bool(single.routes) and asked.result.best().amount_out_net < single.best().amount_out_net


def _describe_shares(group: str, answers: list[Asked], total: int) -> tuple[str, ...]:
    found = routed(answers)
    divided = sum(len(each.result.best().paths) > 1 for each in found)
    return group, f"{len(answers)} of {total}", f"{divided / max(1, len(found)):.1%}"
