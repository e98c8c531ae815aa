"""Fynd's scenarios against the best routes known for them: a slow solver's, without a limit of hops."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import recorded
from benchmarks.asked import Asked, ask
from benchmarks.measure import bps, percentile
from benchmarks.report import Figure, Row, Table, at_least, at_most, share
from benchmarks.sections import Entries, Setting
from routing_engine import Router, Snapshot
from routing_engine.markets import ConcentratedPool, ConstantProductPool

GAS_PRICE = 10 * 10**9
LEAST_BPS = -0.3
"""Scope of a certificate that covers any number of hops."""

EQUAL_BPS = 1e-3
"""Two divisions of one flow differ by as much in their last units."""


def run(setting: Setting) -> Entries:
    """Ask the scenarios on the pools that the slow solver had, and on all pools."""
    if not (setting.shared_data / "trades" / recorded.BEST_KNOWN).is_file():
        yield Row(what="recorded data", target="", measured=f"none at {setting.shared_data}")
        return
    every = recorded.market(setting.shared_data, recorded.GOLDEN_RECORDING, recorded.GOLDEN_BLOCK)
    known = recorded.best_known(setting.shared_data)
    same, more = (_ask_scenarios(setting, market) for market in (keep_pools(every), every))
    gains = {name: _compare(known[name], asked) for name, asked in same.items()}
    yield share(f"net of gas: at least {LEAST_BPS} bps of the best known", [g >= LEAST_BPS for g in gains.values()], 1)
    yield at_least("net above the best known, least", min(gains.values()), LEAST_BPS, "bps")
    yield share("net equal to the best known or above it", [gain >= -EQUAL_BPS for gain in gains.values()], 0.5)
    yield share(
        "proven net gap ≤ 1 bps over all flows", [_is_close_to_all_flows(asked) for asked in same.values()], 0.95
    )
    yield share("proven net gap ≤ 1 bps, whatever the scope", [asked.gap <= 1 for asked in same.values()], 0.95)
    scopes = ", ".join(sorted({_scope(asked) for asked in same.values()}))
    yield Row(what="what the certificates speak of", target="", measured=scopes)
    for clock, times in (("wall", [a.wall_ms for a in same.values()]), ("cpu", [a.cpu_ms for a in same.values()])):
        yield at_most(f"{clock} time of the first call, p50", percentile(times, 50), 10, "ms")
        yield at_most(f"{clock} time of the first call, p95", percentile(times, 95), 40, "ms")
    yield _table(known, same, more, gains)
    yield from _figures(same, gains, keep_pools(every).id)


def keep_pools(snapshot: Snapshot) -> Snapshot:
    """Return the constant-product and concentrated pools of a market, which is what the slow solver knew."""
    kept = [each for each in snapshot.markets.values() if isinstance(each, ConstantProductPool | ConcentratedPool)]
    return Snapshot(kept, blocks=snapshot.blocks, gas_prices=snapshot.gas_prices)


def _ask_scenarios(setting: Setting, market: Snapshot) -> dict[str, Asked]:
    router = Router(market)
    scenarios, _ = recorded.golden(setting.shared_data, market, GAS_PRICE)
    setting.note(f"{len(scenarios)} scenarios on {len(market.markets):,} markets")
    return {scenario.name: ask(router, scenario.request) for scenario in scenarios}


def _is_close_to_all_flows(asked: Asked) -> bool:
    """Whether no path of any number of markets is proven to bring more than 1 bps more."""
    gap = asked.result.certificate.all_flows_gap_bps if asked.result.certificate else None
    return gap is not None and gap <= 1


def _scope(asked: Asked) -> str:
    certificate = asked.result.certificate
    return certificate.scope if certificate else "nothing"


def _compare(best: recorded.BestKnown, asked: Asked) -> float:
    """Return by how many bps our net output is above the best known, gas valued as it was there."""
    route = asked.result.best()
    return bps(best.value(route.amount_out, route.gas), best.net)


def _table(
    known: dict[str, recorded.BestKnown], same: dict[str, Asked], more: dict[str, Asked], gains: dict[str, float]
) -> Table:
    return Table(
        title="Net of gas at 10 gwei, gas valued as the best known was; its pools only, then all kinds of market",
        columns=(
            "scenario", "best known", "ours", "bps above", "proven gap bps", "hops", "wall ms", "cpu ms",
            "all kinds: bps above",
        ),
        rows=tuple(
            (
                name, str(known[name].net), f"{known[name].value(route.amount_out, route.gas):.0f}",
                f"{gains[name]:.4f}", f"{asked.gap:.3g}", str(len(route.hops)), f"{asked.wall_ms:.1f}",
                f"{asked.cpu_ms:.1f}", f"{_compare(known[name], more[name]):.4f}",
            )
            for name, asked in same.items()
            for route in [asked.result.best()]
        ),
    )  # fmt: skip


def _figures(same: dict[str, Asked], gains: dict[str, float], market: str) -> Iterator[Figure]:
    for name, asked in same.items():
        yield Figure(what=f"{name}: net above the best known", value=gains[name], unit="bps", market=market)
        yield Figure(what=f"{name}: proven net gap", value=asked.gap, unit="bps", market=market)
        yield Figure(what=f"{name}: wall time", value=asked.wall_ms, unit="ms", market=market)
