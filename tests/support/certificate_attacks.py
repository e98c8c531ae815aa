"""Attacks on certificates: every simple way, divided on a grid and refined from there, against the bound."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.peers.fynd.board import Board, Division, Way
from routing_engine import Market, Route, Router, RouteRequest, RouteResult, Side, Snapshot, Token
from routing_engine.certificate import ALL_FLOWS
from tests.support.dirty_markets import make_market, units, value

PARTS = 24
HALVINGS = 5
"""Times that the grid is halved around its best division."""

LONGEST = 6
"""Hops of rivals, where a certificate speaks of any number."""

KEPT = 8
"""Ways kept for each of three amounts: those that give most for all of it, a quarter, and one part."""

GAS_PRICES = (0, 10**9, 2 * 10**10)
ROUNDING = 1e-9
"""More than the relative error of a bound, which is computed in floats."""

PATIENT_MS = 600_000


@dataclass(frozen=True, slots=True)
class Attack:
    """What came of one market.

    Parameters
    ----------
    seed : int
        Makes the market and the request.
    side : str
        Which amount was fixed.
    found, claimed : bool
        Whether there was an answer, and a gap to attack.
    slack_bps : float
        By how much the bound is above the best rival; nan where nothing was claimed or no rival was found.
    broken : str
        Why the rival breaks the certificate; empty where it does not.
    better_bps : float
        By how much the rival is better than the answer; negative where it is worse.
    """

    seed: int
    side: str
    found: bool
    claimed: bool
    slack_bps: float
    broken: str
    better_bps: float


def attack(seed: int) -> Iterator[Attack]:
    """Attack the certificate of a sale on a random market, then that of buying what the best rival gave."""
    rng = random.Random(f"attack {seed}")
    markets, token_in, token_out = make_market(rng)
    router = Router(Snapshot(markets, gas_prices={1: rng.choice(GAS_PRICES)}))
    amount = units(token_in, 10 ** rng.uniform(1, 6.5))
    request = RouteRequest(token_in=token_in, token_out=token_out, amount=amount, time_budget_ms=PATIENT_MS)
    result = router.find_routes(request)
    hops = count_hops(result)
    rival = find_rival(router, request, hops)
    if rival is None:
        return
    allowed = ROUNDING + value_units(rival)
    yield judge(seed, result, rival, allowed)
    longest = rival if hops == LONGEST else find_rival(router, request, LONGEST) or rival
    yield from _judge_all_flows(seed, result, longest)
    inverse = replace(request, side="exact_out", amount=rival.amount_out)
    bought = router.find_routes(inverse)
    if count_hops(bought) >= hops:
        yield judge(seed, bought, replace(rival, side=Side.EXACT_OUT), allowed)
    if longest is rival:
        yield from _judge_all_flows(seed, bought, replace(rival, side=Side.EXACT_OUT))


def _judge_all_flows(seed: int, result: RouteResult, rival: Route) -> Iterator[Attack]:
    """Hold a rival of any number of hops against what is claimed of all flows, if anything is."""
    certificate = result.certificate
    if certificate is None or certificate.all_flows_gap_bps is None or certificate.scope == ALL_FLOWS:
        return
    wider = replace(certificate, gap_bps=certificate.all_flows_gap_bps, scope=ALL_FLOWS)
    yield judge(seed, replace(result, certificates=(wider,)), rival, ROUNDING + value_units(rival))


def count_hops(result: RouteResult) -> int:
    """Return how many hops a certificate speaks of; the most that are tried where it speaks of any number."""
    scope = result.certificate.scope if result.certificate else ""
    number = re.fullmatch(r"routes_up_to_(\d+)_hops?", scope)
    return min(LONGEST, int(number[1])) if number else LONGEST


def find_rival(router: Router, request: RouteRequest, hops: int) -> Route | None:
    """Return the best route of exact-in that ways of so many hops give, each market used once; None without one."""
    board = Board(router, request)
    ways = choose_ways(board, list(list_ways(router.snapshot.markets.values(), request, hops)))
    divisions = [((request.amount, way),) for way in ways]
    divisions += [division for most in (2, 3, len(ways)) if (division := fill(board, ways, most))]
    routes = [(route, division) for division in divisions for route in _build(board, division)]
    if not routes:
        return None
    best, division = max(routes, key=lambda each: each[0].amount_out_net)
    return refine(board, best, division, ways)


def list_ways(markets: Iterable[Market], request: RouteRequest, hops: int) -> Iterator[Way]:
    """Yield every way of so many hops that meets no token and no market twice."""
    steps = [(market.id, *edge) for market in markets for edge in market.edges()]

    def extend(way: Way, at: Token) -> Iterator[Way]:
        for step in steps:
            if step[1] != at or step[2] == request.token_in:
                continue
            if any(step[0] == market or step[2] == token for market, _, token in way):
                continue
            if step[2] == request.token_out:
                yield (*way, step)
            elif len(way) + 1 < hops:
                yield from extend((*way, step), step[2])

    yield from extend((), request.token_in)


def choose_ways(board: Board, ways: Sequence[Way]) -> list[Way]:
    """Return those that give most, for three amounts."""
    chosen: dict[Way, None] = {}
    for part in (1, 4, PARTS):
        runs = [(board.run(way, board.request.amount // part), way) for way in ways]
        given = sorted(((run.amount_out, way) for run, way in runs if run), key=lambda each: -each[0])
        chosen.update(dict.fromkeys(way for _, way in given[:KEPT]))
    return list(chosen)


def fill(board: Board, ways: Sequence[Way], most: int) -> Division:
    """Send each part of the grid down the way that gives most for it, over so many ways; empty if one finds none."""
    base, rest = divmod(board.request.amount, PARTS)
    amounts: dict[Way, int] = {}
    states: dict[str, Market] = {}
    for number in range(PARTS if base else 0):
        chunk = base if number else base + rest
        tried = [way for way in ways if way in amounts or len(amounts) < most]
        runs = [(run, way) for way in tried if (run := board.run(way, chunk, states))]
        if not runs:
            return ()
        run, way = max(runs, key=lambda each: each[0].amount_out)
        states.update(run.after)
        amounts[way] = amounts.get(way, 0) + chunk
    return tuple((amount, way) for way, amount in sorted(amounts.items(), key=lambda each: -each[1]))


def refine(board: Board, best: Route, division: Division, ways: Sequence[Way]) -> Route:
    """Move ever smaller parts between the ways of a division, or to another, while that gives more."""
    amounts = {way: amount for amount, way in division}
    part = board.request.amount // PARTS
    for _ in range(HALVINGS):
        part //= 2
        for donor in list(amounts):
            for taker in [*amounts, *(way for way in ways[:2] if way not in amounts)]:
                if taker == donor or amounts.get(donor, 0) < part or not part:
                    continue
                moved = {**amounts, donor: amounts[donor] - part, taker: amounts.get(taker, 0) + part}
                kept = {way: amount for way, amount in moved.items() if amount}
                for route in _build(board, tuple((amount, way) for way, amount in kept.items())):
                    if route.amount_out_net > best.amount_out_net:
                        best, amounts = route, kept
    return best


def _build(board: Board, division: Division) -> Iterator[Route]:
    """Yield a division as a route if it uses each market once."""
    route = board.build_route(division)
    if route and len({hop.market_id for hop in route.hops}) == len(route.hops):
        yield route


def value_units(route: Route) -> float:
    """Return what a unit of each hop's input is worth, as a part of the route: contracts round fees by as much."""
    paid, received = value(route.token_in, route.amount_in), value(route.token_out, route.amount_out)
    return sum(value(hop.token_in, 1) for hop in route.hops) / min(paid, received)


def judge(seed: int, result: RouteResult, rival: Route, allowed: float) -> Attack:
    """Hold a rival against an answer and its certificate; a relative excess up to `allowed` is rounding."""
    certificate, side = result.certificate, str(result.request.side)
    if not result.routes or certificate is None or certificate.gap_bps is None:
        return Attack(seed, side, bool(result.routes), False, float("nan"), "", float("nan"))
    ours, gap = result.best().net_amount, certificate.gap_bps / 1e4
    if result.request.side == Side.EXACT_OUT:
        bound = ours * (1 - gap)
        slack = rival.net_amount / bound - 1 if bound else float("inf")
        better = 1 - rival.net_amount / ours
    else:
        bound = ours / (1 - gap) if gap < 1 else float("inf")
        slack, better = 1 - rival.net_amount / bound, rival.net_amount / ours - 1
    said = f"seed {seed}, {certificate}: ours {ours}: {result.best()}; rival {rival.net_amount}: {rival}"
    broken = said if slack < -allowed else ""
    return Attack(seed, side, True, True, 1e4 * slack, broken, 1e4 * better)
