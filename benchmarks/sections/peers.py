"""Our routes against everybody else's on the same queries, gross and net of gas, to the smallest unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.instances import CONSISTENT, LOOPS, SIZES, Query, constant_product_market, queries
from benchmarks.measure import bps, gas_price, percentile, request_of, timed
from benchmarks.peers import Answer, node
from benchmarks.peers.emulations import CHUNKS, DISJOINT, Emulations
from benchmarks.peers.replay import routes_of
from benchmarks.peers.textbook import NetworkxBellmanFord, RustworkxBellmanFord, exhaustive
from benchmarks.report import Row, Table
from benchmarks.sections import Entries, Setting
from routing_engine import Route, Router, RouteRequest
from routing_engine.markets import ConstantProductPool

ROUNDING = 1e-9
"""Two divisions of the same flow differ by some units: outputs this close, relatively, count as equal."""

SLOW = ("Balancer SOR", "networkx Bellman–Ford")
"""Asked only every second pair in a quick run."""

Ask = Callable[[Sequence[Query], Sequence[RouteRequest]], Iterable[list[Answer]]]
"""Asks a peer; per query, every answer that it might give, of which the best counts."""


@dataclass(slots=True)
class Duel:
    """What came of one peer on one market under one gas model.

    Parameters
    ----------
    peer, gas : str
        Who, and whether amounts are gross or net.
    gains : dict of float to list of float
        By size of trade, bps by which our route gives more.
    asked, answered : int
        Queries, and those on which it found a route.
    lost : list of str
        Queries on which the peer's route was better by more than `ROUNDING`.
    times, our_times : list of float
        Seconds on the same queries.
    """

    peer: str
    gas: str
    gains: dict[float, list[float]] = field(default_factory=dict)
    asked: int = 0
    answered: int = 0
    lost: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    our_times: list[float] = field(default_factory=list)


def run(setting: Setting) -> Entries:
    """Compare on the large market, the large market with loops, and small markets with exhaustive search."""
    count = 25 if setting.full else 4
    duels = []
    for market, router in (("", setting.router), (", market with loops", setting.loops)):
        asked = queries(router, count, seed=11)
        prices = [gas_price(router, query) for query in asked]
        for gas in ("gross", "net"):
            requests = [
                request_of(query, gas_prices={1: price if gas == "net" else 0})
                for query, price in zip(asked, prices, strict=True)
            ]
            ours = [timed(lambda r=request, router=router: router.find_routes(r).best()) for request in requests]
            for peer, ask in _peers(router, with_textbook=not market).items():
                setting.note(f"{peer}, {gas}{market}")
                step = 2 if peer in SLOW and not setting.full else 1
                cases = (part[step - 1 :: step] for part in (asked, requests, ours))
                duels.append(_duel(f"{peer}{market}", gas, router, *cases, ask))
    duels += _small(setting)
    for gas in ("gross", "net"):
        yield _verdict(gas, [duel for duel in duels if duel.gas == gas])
    yield from _tables(duels)


def _peers(router: Router, *, with_textbook: bool) -> dict[str, Ask]:
    """Peers by name; textbook searches know no cycles that give, so they sit out where there are some."""
    emulations = Emulations(router)
    few, more = (lambda request, n=n: emulations.disjoint(request, n) for n in (2, DISJOINT))
    peers: dict[str, Ask] = {
        "Uniswap smart-order-router": _node(router, "smart-order-router"),
        "Balancer SOR": _node(router, "balancer-sor"),
        f"{CHUNKS} chunks": _each(
            lambda request: [emulations.chunked(request, count) for count in (1, 2, 4, 8, CHUNKS)]
        ),
        f"{DISJOINT} disjoint paths": _each(lambda request: [few(request), more(request)]),
        "this router, ≤ 3 hops": _own(router, max_hops=3),
        "this router, one path": _own(router, max_splits=1),
    }
    if with_textbook:
        rust, python = RustworkxBellmanFord(router), NetworkxBellmanFord(router)
        peers["rustworkx Bellman–Ford"] = _each(lambda request: [rust.answer(request)])
        peers["networkx Bellman–Ford"] = _each(lambda request: [python.answer(request)])
    return peers


def _each(answer: Callable[[RouteRequest], list[Answer]]) -> Ask:
    return lambda _, requests: (answer(request) for request in requests)


def _node(router: Router, peer: str) -> Ask:
    def ask(asked: Sequence[Query], requests: Sequence[RouteRequest]) -> Iterable[list[Answer]]:
        return ([answer] for answer in node.ask(router, asked, [_pool_cost(router, r) for r in requests], peer))

    return ask


def _pool_cost(router: Router, request: RouteRequest) -> int:
    """Gas of one pool in units of the token bought."""
    unit = float(router.graph.units[router.graph.index[request.token_out]])
    pool = next(iter(router.snapshot.markets.values()))
    assert isinstance(pool, ConstantProductPool)
    return round((request.gas_prices or {}).get(1, 0) * pool.gas * unit)


def _own(router: Router, **options: int) -> Ask:
    """The router itself with less to choose from: more choice must never do worse."""

    def ask(_: Sequence[Query], requests: Sequence[RouteRequest]) -> Iterable[list[Answer]]:
        for request in requests:
            route, seconds = timed(lambda r=request: router.find_routes(replace(r, **options)).best())
            yield [_Own(paths=(), seconds=seconds, route=route)]

    return ask


@dataclass(frozen=True, slots=True, kw_only=True)
class _Own(Answer):
    """An answer that is a route already."""

    route: Route


def _duel(
    peer: str, gas: str, router: Router, asked: Sequence[Query], requests: Sequence[RouteRequest],
    ours: Sequence[tuple[Route, float]], ask: Ask,
) -> Duel:  # fmt: skip
    duel = Duel(peer, gas)
    for query, request, (route, seconds), answers in zip(asked, requests, ours, ask(asked, requests), strict=True):
        duel.asked += 1
        duel.our_times.append(seconds)
        duel.times.append(max(answer.seconds for answer in answers))
        rivals = [
            rival
            for answer in answers
            for rival in ([answer.route] if isinstance(answer, _Own) else routes_of(router, request, answer))
        ]
        if not rivals:
            continue
        duel.answered += 1
        best = max(rival.amount_out_net for rival in rivals)
        duel.gains.setdefault(query.size, []).append(bps(route.amount_out_net, best))
        if best > route.amount_out_net + ROUNDING * abs(best):
            duel.lost.append(
                f"{request.amount} {request.token_in.symbol} → {request.token_out.symbol}: "
                f"{1e4 * (best / route.amount_out_net - 1):.3g} bps"
            )
    return duel


def _small(setting: Setting) -> list[Duel]:
    """Single paths on small markets, where every path can be tried: by v2-sdk up to 3 hops, by us up to 4."""
    setting.note("small markets, exhaustive")
    sdk, every = (
        Duel("v2-sdk, every path ≤ 3 hops, small markets", "gross"),
        Duel("every path ≤ 4 hops, small markets", "gross"),
    )
    for seed in range(10 if setting.full else 3):
        for disagreement in (CONSISTENT, LOOPS):
            router = Router(constant_product_market(tokens=25, pools=70, seed=seed, disagreement=disagreement))
            asked = queries(router, 3, SIZES, seed=seed)
            for duel, hops, ask in (
                (sdk, 3, _node(router, "v2-sdk")),
                (every, 4, _each(lambda request, router=router: [exhaustive(router, request)])),
            ):
                requests = [request_of(query, max_hops=hops, max_splits=1) for query in asked]
                ours = [timed(lambda r=request, router=router: router.find_routes(r).best()) for request in requests]
                _merge(duel, _duel(duel.peer, duel.gas, router, asked, requests, ours, ask))
    return [sdk, every]


def _merge(total: Duel, part: Duel) -> None:
    total.asked += part.asked
    total.answered += part.answered
    total.lost += part.lost
    total.times += part.times
    total.our_times += part.our_times
    for size, gains in part.gains.items():
        total.gains.setdefault(size, []).extend(gains)


def _verdict(gas: str, duels: list[Duel]) -> Row:
    answered, lost = sum(duel.answered for duel in duels), sum(len(duel.lost) for duel in duels)
    return Row(
        what=f"equal or better than every peer, {gas}", target="100 %",
        measured=f"{answered - lost:,} of {answered:,}; {lost} violations", passed=answered > 0 and lost == 0,
    )  # fmt: skip


def _tables(duels: list[Duel]) -> Entries:
    yield Table(
        title="What our routes give more, median bps by size of trade; median ms, theirs and ours on the same queries",
        columns=("peer", "", "answered", *(f"{size:.2%}" for size in SIZES), "violations", "ms theirs", "ms ours"),
        rows=tuple(
            (
                duel.peer, duel.gas, f"{duel.answered} of {duel.asked}",
                *(f"{percentile(duel.gains.get(size, []), 50):.3g}" for size in SIZES), str(len(duel.lost)),
                f"{1e3 * percentile(duel.times, 50):.2f}", f"{1e3 * percentile(duel.our_times, 50):.2f}",
            )
            for duel in duels
        ),
    )  # fmt: skip
    lost = tuple((f"{duel.peer}, {duel.gas}", query) for duel in duels for query in duel.lost)
    if lost:
        yield Table(title="Violations: where a peer's route was better", columns=("peer", "query"), rows=lost)
