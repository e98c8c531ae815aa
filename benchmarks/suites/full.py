"""The recorded markets with what was really asked of them, and more of the generated ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks import recorded
from benchmarks.harness.suite import Arena, Case, Group, Known
from benchmarks.suites import quick
from routing_engine import Snapshot
from routing_engine.markets import ConcentratedPool, ConstantProductPool

RECORDED = "recorded"
PAIRS = 12
GAS_PRICES = {"10 gwei": 10 * 10**9, "0.134 gwei": 134 * 10**6}
USUAL = GAS_PRICES["10 gwei"]
FYND, BEST = "Fynd 0.19", "the best known"


def list_arenas(shared_data: Path) -> Iterator[Arena]:
    """Yield the recorded markets, where the folder is there, and then the generated ones: a run may be cut."""
    if (shared_data / "trades").is_dir():
        yield _make_scenarios(shared_data)
        yield _make_best_known(shared_data)
        yield _make_auction(shared_data)
        for recording in recorded.RECORDINGS:
            yield _make_requests(shared_data, recording)
    yield from quick.list_arenas(PAIRS)


def _make_scenarios(folder: Path) -> Arena:
    """Fynd's scenarios on the market that it had, beside what its version 0.19 answered: single paths."""
    snapshot = recorded.market(folder, recorded.GOLDEN_RECORDING, recorded.GOLDEN_BLOCK)
    scenarios, total = recorded.golden(folder, snapshot, USUAL)
    cases = tuple(Case(request=each.request, known={FYND: Known(net=each.fynd_net)}) for each in scenarios)
    group = Group(name="Fynd's scenarios, 10 gwei", cases=cases, left_out=total - len(cases))
    name = f"Ethereum at block {recorded.GOLDEN_BLOCK:,}"
    return Arena(name=name, source=RECORDED, snapshot=snapshot, groups=(group,))


def _make_best_known(folder: Path) -> Arena:
    """The scenarios on the kinds of pools that a slow solver without a limit of hops had."""
    whole = recorded.market(folder, recorded.GOLDEN_RECORDING, recorded.GOLDEN_BLOCK)
    kept = [each for each in whole.markets.values() if isinstance(each, ConstantProductPool | ConcentratedPool)]
    snapshot = Snapshot(kept, gas_prices=whole.gas_prices, blocks=whole.blocks)
    best = recorded.best_known(folder)
    scenarios, total = recorded.golden(folder, snapshot, USUAL)
    cases = tuple(
        Case(
            request=each.request,
            known={BEST: Known(net=best[each.name].net, gas_value=best[each.name].gas_value)},
        )
        for each in scenarios
        if each.name in best
    )
    group = Group(name="scenarios against the best known", cases=cases, left_out=total - len(cases))
    name = f"Ethereum at block {recorded.GOLDEN_BLOCK:,}, two kinds"
    return Arena(name=name, source=RECORDED, snapshot=snapshot, groups=(group,))


def _make_requests(folder: Path, recording: str) -> Arena:
    """Real sell orders at a usual and at a low gas price, and real trades."""
    snapshot = recorded.market(folder, recording)
    groups = []
    for shown, price in GAS_PRICES.items():
        asked, total = recorded.requests(folder, snapshot, price)
        cases = tuple(Case(request=each) for each in asked)
        groups.append(Group(name=f"{recording}, sell orders, {shown}", cases=cases, left_out=total - len(cases)))
    asked, total = recorded.trades(folder, snapshot, USUAL)
    cases = tuple(Case(request=each) for each in asked)
    groups.append(Group(name=f"{recording}, trades, 10 gwei", cases=cases, left_out=total - len(cases)))
    return Arena(name=recording, source=RECORDED, snapshot=snapshot, groups=tuple(groups))


def _make_auction(folder: Path) -> Arena:
    """The orders of a CoW auction on its own liquidity, each alone, against nobody's limit."""
    snapshot = recorded.market(folder, recorded.AUCTION)
    orders, total = recorded.orders(folder, snapshot, USUAL)
    groups = []
    for side, what in (("exact_in", "sell orders"), ("exact_out", "buy orders")):
        cases = tuple(Case(request=order.request) for order in orders if order.request.side == side)
        groups.append(Group(name=f"auction, {what}, 10 gwei", cases=cases))
    groups[0] = Group(name=groups[0].name, cases=groups[0].cases, left_out=total - len(orders))
    return Arena(name=recorded.AUCTION, source=RECORDED, snapshot=snapshot, groups=tuple(groups))
