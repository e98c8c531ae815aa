"""The orders of a CoW auction on that auction's own liquidity, each on its own: no order sees another."""

from __future__ import annotations

from benchmarks import recorded
from benchmarks.measure import gap_of, percentile, timed
from benchmarks.report import Row, Table
from benchmarks.sections import Entries, Setting
from routing_engine import Router, RouteResult

EVERY = 4
"""In a quick run, every so many-th order."""

Served = tuple[recorded.Order, RouteResult, float]


def run(setting: Setting) -> Entries:
    """Route every order whose tokens are in the auction, at the auction's gas price, against its limit."""
    if not (setting.shared_data / "trades").is_dir():
        yield Row(what="recorded data", target="", measured=f"none at {setting.shared_data}")
        return
    router = Router(recorded.market(setting.shared_data, recorded.AUCTION))
    orders, total = recorded.orders(setting.shared_data, router.snapshot)
    asked = orders if setting.full else orders[::EVERY]
    served: list[Served] = []
    for number, order in enumerate(asked):
        setting.note(f"{number} of {len(asked)}")
        result, seconds = timed(lambda o=order: router.find_routes(o.request))
        if result.routes:
            served.append((order, result, 1e3 * seconds))
    yield Row(what="orders with both tokens in the auction's market", target="", measured=f"{len(orders)} of {total}")
    yield Row(what="routed", target="", measured=f"{len(served) / max(1, len(asked)):.1%} of {len(asked)}")
    yield _table(served)


def _surplus(order: recorded.Order, result: RouteResult) -> float:
    """How much better than the limit, in bps of it; negative where the market does not reach it."""
    best = result.best()
    if order.request.side == "exact_out":
        return 1e4 * (order.limit - best.amount_in) / order.limit
    return 1e4 * (best.amount_out - order.limit) / order.limit


def _table(served: list[Served]) -> Table:
    rows = []
    for side, name in (("exact_in", "sell orders"), ("exact_out", "buy orders")):
        here = [each for each in served if each[0].request.side == side]
        surplus = [_surplus(order, result) for order, result, _ in here]
        met = [each for each in surplus if each >= 0]
        gaps, times = [gap_of(result) for _, result, _ in here], [ms for *_, ms in here]
        rows.append(
            (
                name, str(len(here)), str(len(met)), f"{percentile(met, 50):.1f}",
                *(f"{percentile(times, rank):.2f}" for rank in (50, 95)),
                *(f"{percentile(gaps, rank):.3g}" for rank in (50, 95)),
            )
        )  # fmt: skip
    return Table(
        title="A CoW auction at its gas price of 15.2 gwei",
        columns=(
            "", "routed", "limit reached", "surplus over limit bps, median", "ms p50", "ms p95", "gap bps p50", "p95",
        ),
        rows=tuple(rows),
    )  # fmt: skip
