"""The orders of a CoW auction on that auction's own liquidity, each on its own: no order sees another."""

from __future__ import annotations

from benchmarks import recorded
from benchmarks.asked import COLUMNS, Asked, ask_all, describe, list_figures, proven, routed
from benchmarks.measure import percentile
from benchmarks.report import Figure, Row, Table, at_most, share
from benchmarks.sections import Entries, Setting
from routing_engine import Router

GAS_PRICE = 10 * 10**9

Served = list[tuple[recorded.Order, Asked]]


def run(setting: Setting) -> Entries:
    """Route every order whose tokens are in the auction, once, against its limit."""
    if not (setting.shared_data / "trades").is_dir():
        yield Row(what="recorded data", target="", measured=f"none at {setting.shared_data}")
        return
    router = Router(recorded.market(setting.shared_data, recorded.AUCTION))
    prices = {"10 gwei": GAS_PRICE}
    if setting.full:
        prices["the auction's 15.2 gwei"] = recorded.AUCTION_GAS_PRICE
    groups: dict[str, Served] = {}
    figures: list[Figure] = []
    for name, price in prices.items():
        orders, total = recorded.orders(setting.shared_data, router.snapshot, price)
        answers = ask_all(setting, name, router, [order.request for order in orders])
        for side, what in (("exact_in", "sell orders"), ("exact_out", "buy orders")):
            here = [pair for pair in zip(orders, answers, strict=True) if pair[0].request.side == side]
            groups[f"{what}, {name}"] = here
            figures += list_figures(f"{what}, {name}", [asked for _, asked in here], router.snapshot.id)
        if price == GAS_PRICE:
            yield Row(what="orders with both tokens in the market", target="", measured=f"{len(orders)} of {total}")
            yield from _targets(answers)
    yield Table(
        title="A CoW auction, every order once",
        columns=COLUMNS,
        rows=tuple(describe(name, [asked for _, asked in served]) for name, served in groups.items()),
    )
    yield _limits(groups)
    yield from figures


def _targets(answers: list[Asked]) -> Entries:
    yield share("routed", [bool(each.result.routes) for each in answers], 1)
    for clock in ("wall", "cpu"):
        times = [getattr(each, f"{clock}_ms") for each in answers]
        yield at_most(f"{clock} time of the first call, p50", percentile(times, 50), 2, "ms")
        yield at_most(f"{clock} time of the first call, p95", percentile(times, 95), 25, "ms")
    yield share("proven net gap ≤ 1 bps", proven(answers), 0.9)
    yield share("an answer has a gap, or says why it has none", [_is_judged(each) for each in routed(answers)], 1)


def _is_judged(asked: Asked) -> bool:
    certificate = asked.result.certificate
    return certificate is not None and (certificate.gap_bps is not None or bool(certificate.reason))


def _surplus(order: recorded.Order, asked: Asked) -> float:
    """How much better than the limit, in bps of it; negative where the market does not reach it."""
    best = asked.result.best()
    if order.request.side == "exact_out":
        return 1e4 * (order.limit - best.amount_in) / order.limit
    return 1e4 * (best.amount_out - order.limit) / order.limit


def _limits(groups: dict[str, Served]) -> Table:
    rows = []
    for name, served in groups.items():
        surplus = [_surplus(order, asked) for order, asked in served if asked.result.routes]
        met = [each for each in surplus if each >= 0]
        rows.append((name, str(len(met)), f"{percentile(met, 50):.1f}"))
    return Table(
        title="Against the orders' limits",
        columns=("", "limit reached", "surplus over limit bps, median"),
        rows=tuple(rows),
    )
