"""Our routes beside those of other routers on the same requests, before and after gas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.measure import percentile
from benchmarks.peers.fynd.path_frank_wolfe import PathFrankWolfe
from benchmarks.peers.fynd.water_fill import WaterFill
from benchmarks.report import Figure, Table
from benchmarks.sections import Setting
from routing_engine import Route, Router, RouteRequest

GAS_PRICES = {"gross": 0, "net": 10 * 10**9}
ROUNDING = 1e-9
"""Routes closer than this part of the output, or than one unit, count as equal: divisions differ in last units."""

SINGLE, WATER_FILL, FRANK_WOLFE = "Fynd's single path", "water_fill", "path_frank_wolfe"
FEWER = "this router, ≤ 3 hops, ≤ 4 paths"

Answer = Callable[[RouteRequest], dict[str, Route | None]]
"""Asks a peer; its answers by name, None where it found nothing."""


@dataclass(slots=True)
class Duel:
    """What came of one peer on one market.

    Parameters
    ----------
    group, peer, gas : str
        Market and amounts; who; ``gross`` or ``net``.
    market : str
        Content hash.
    asked, answered, ours_only, equal, better : int
        Requests; those that the peer answers; that only we do; on which both are equal; on which ours is better.
    gains : list of float
        By how many bps of the peer's output ours is above it.
    lost : list of str
        Requests on which the peer is better.
    """

    group: str
    peer: str
    gas: str
    market: str
    asked: int = 0
    answered: int = 0
    ours_only: int = 0
    equal: int = 0
    better: int = 0
    gains: list[float] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def add(self, name: str, ours: Route | None, theirs: Route | None) -> None:
        """Count one request."""
        self.asked += 1
        self.ours_only += theirs is None and ours is not None
        if theirs is None:
            return
        self.answered += 1
        if ours is None:
            self.lost.append(f"{name}: no route of ours")
            return
        a, b = (each.amount_out_net if self.gas == "net" else each.amount_out for each in (ours, theirs))
        gain = 1e4 * (a - b) / max(1, theirs.amount_out)
        self.gains.append(gain)
        if abs(a - b) <= max(1, ROUNDING * theirs.amount_out):
            self.equal += 1
        elif a > b:
            self.better += 1
        else:
            self.lost.append(f"{name}: {-gain:.3g} bps")

    def describe(self) -> str:
        """Return it in one cell."""
        gains = ", ".join(f"{percentile(self.gains, rank):.3g}" for rank in (0, 50, 95))
        missing = self.asked - self.answered
        return f"{gains}; {self.equal} =, {len(self.lost)} −" + (f", {missing} without a route" if missing else "")


class Rivals:
    """Fynd's routers and this one with less to choose from, on one market."""

    def __init__(self, router: Router) -> None:
        self.router = router
        self._water, self._frank_wolfe = WaterFill(router), PathFrankWolfe(router)

    def answer(self, request: RouteRequest) -> dict[str, Route | None]:
        """Return every peer's route by name."""
        candidates = self._water.find_candidates(request)
        best = max(candidates.values(), key=lambda route: route.amount_out_net) if candidates else None
        fewer = self.router.find_routes(replace(request, max_hops=3, max_splits=4))
        return {
            SINGLE: candidates.get("single path"),
            WATER_FILL: best,
            FRANK_WOLFE: self._frank_wolfe.find_route(request),
            FEWER: fewer.routes[0] if fewer.routes else None,
        }


def fight(setting: Setting, group: str, rivals: Rivals, requests: Sequence[tuple[str, RouteRequest]]) -> list[Duel]:
    """Ask everybody, once with free gas and once at a usual price."""
    duels: dict[tuple[str, str], Duel] = {}
    for number, (name, request) in enumerate(requests):
        if number % 5 == 0:
            setting.note(f"{group}, {number} of {len(requests)}")
        for gas, price in GAS_PRICES.items():
            asked = replace(request, gas_prices={request.token_in.chain_id: price})
            result = rivals.router.find_routes(asked)
            ours = result.routes[0] if result.routes else None
            for peer, theirs in rivals.answer(asked).items():
                key = peer, gas
                if key not in duels:
                    duels[key] = Duel(group, peer, gas, rivals.router.snapshot.id)
                duels[key].add(name, ours, theirs)
    return list(duels.values())


def show_duels(title: str, duels: Sequence[Duel]) -> Table:
    """Return a table of them, a row for each market and amounts, a column for each peer."""
    peers = tuple(dict.fromkeys(duel.peer for duel in duels))
    rows: dict[tuple[str, str], dict[str, Duel]] = {}
    for duel in duels:
        rows.setdefault((duel.group, duel.gas), {})[duel.peer] = duel
    return Table(
        title=f"{title}. Bps of the peer's output that ours is above it: least, median, 95 %; = equal, − where ours is"
        " below",
        columns=("market and amounts", "", "asked", *peers),
        rows=tuple(
            (group, gas, str(max(duel.asked for duel in here.values())), *(here[peer].describe() for peer in peers))
            for (group, gas), here in rows.items()
        ),
    )


def show_lost(duels: Sequence[Duel], most: int = 30) -> Iterator[Table]:
    """Yield the requests on which peers are better, if there are any."""
    rows = [(f"{duel.group}, {duel.peer}, {duel.gas}", each) for duel in duels for each in duel.lost]
    if rows:
        title = f"Where a peer is better: {len(rows)}" + (f", of which {most}" if len(rows) > most else "")
        yield Table(title=title, columns=("where", "request"), rows=tuple(rows[:most]))


def list_figures(duels: Sequence[Duel]) -> Iterator[Figure]:
    """Yield the duels as numbers."""
    for duel in duels:
        what = f"{duel.group}, against {duel.peer}, {duel.gas}"
        for name, value in (("peer better", len(duel.lost)), ("equal", duel.equal), ("ours better", duel.better)):
            yield Figure(what=f"{what}: {name}", value=value, unit="requests", market=duel.market)
        for rank, name in ((0, "least"), (50, "p50"), (95, "p95")):
            value = percentile(duel.gains, rank)
            yield Figure(what=f"{what}: ours above, {name}", value=value, unit="bps", market=duel.market)
