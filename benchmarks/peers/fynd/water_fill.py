"""Water-filling: chunks of an amount, each down the way that gives most for it; the best of four divisions counts."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.peers.fynd.bellman_ford import list_steps
from benchmarks.peers.fynd.board import UNTOUCHED, Board, Division, Run, Way
from benchmarks.peers.fynd.candidates import Score, Step, list_ways, score_steps, search_ways
from routing_engine import Market, Route, Router, RouteRequest

MOST_WAYS = 4
COARSE, FINE = 20, 256
"""Chunks of the first pass, which chooses the ways, and of the second, which divides among them."""

EXCHANGE_FLOOR = 64
"""Parts of a fine chunk that the exchange goes down to."""

EXCHANGE_TRIALS = 400
SHARED_BEST, SHARED_PROBED, SHARED_MARGINAL, SHARED_MOST = 8, 32, 8, 12
"""Ways for the division that shares markets: the best with everything, and of those probed the best with a chunk."""


class WaterFill:
    """Fynd's ``water_fill`` on one market.

    Parameters
    ----------
    router : Router
        Whose markets and reference prices to use.
    max_hops : int
        Markets in series.
    """

    def __init__(self, router: Router, max_hops: int = 3) -> None:
        self._router, self._max_hops = router, max_hops
        self._steps = list_steps(router.snapshot.markets.values())
        self._scores: dict[Step, Score] = score_steps(router, self._steps)

    def find_route(self, request: RouteRequest) -> Route | None:
        """Return the best of the single way and three divisions, net of gas; None where nothing takes the amount."""
        routes = self.find_candidates(request)
        return max(routes.values(), key=lambda route: route.amount_out_net) if routes else None

    def find_candidates(self, request: RouteRequest) -> dict[str, Route]:
        """Return what each way of dividing gives, by its name; those that fail are left out."""
        board = Board(self._router, request)
        ranked = self._rank(board)
        divisions: dict[str, Division] = {}
        if ranked and board.run(ranked[0], request.amount):
            divisions["single path"] = ((request.amount, ranked[0]),)
        apart = choose_disjoint(ranked)
        coarse = fill_disjoint(board, apart, COARSE, gated=True) if len(apart) > 1 else []
        if any(coarse):
            divisions["20 chunks, disjoint"] = _zip(coarse, apart)
            kept = [way for amount, way in zip(coarse, apart, strict=True) if amount]
            fine = exchange(board, kept, fill_disjoint(board, kept, FINE, gated=False))
            divisions["256 chunks, disjoint, exchanged"] = _zip(fine, kept)
        divisions["fill and spill"] = fill_shared(board, ranked)
        routes = {name: board.build_route(division) for name, division in divisions.items() if division}
        whole = {name: route for name, route in routes.items() if route and route.amount_in == request.amount}
        return {name: route for name, route in whole.items() if route.amount_out > 0}

    def _rank(self, board: Board) -> list[Way]:
        """Return ways by what they net for the whole amount; those that cannot take it come last."""
        request = board.request
        ways = search_ways(board, self._steps, self._max_hops)
        ways += list_ways(self._steps, self._scores, request.token_in, request.token_out, self._max_hops)
        nets: list[tuple[float, Way]] = []
        for way in dict.fromkeys(ways):
            run = board.run(way, request.amount)
            nets.append((_net(board, run) if run else float("-inf"), way))
        nets.sort(key=lambda each: -each[0])
        return [way for _, way in nets]


def choose_disjoint(ranked: Sequence[Way]) -> list[Way]:
    """Return the first few ways that share no market."""
    chosen: list[Way] = []
    used: set[str] = set()
    for way in ranked:
        ids = {market for market, *_ in way}
        if not ids & used:
            chosen.append(way)
            used |= ids
        if len(chosen) == MOST_WAYS:
            break
    return chosen


def fill_disjoint(board: Board, ways: Sequence[Way], chunks: int, *, gated: bool) -> list[int]:
    """Return amounts for ways that share no market; gated, a way's first chunk must pay for its gas."""
    amounts = [0] * len(ways)
    for place, chunk in _fill(board, ways, chunks, len(ways), gated=gated):
        amounts[place] += chunk
    return amounts


def _fill(board: Board, ways: Sequence[Way], chunks: int, most: int, *, gated: bool) -> list[tuple[int, int]]:
    """Return which way took each chunk, and how large it was; at most so many ways are opened."""
    base, rest = divmod(board.request.amount, chunks)
    opened = [not gated] * len(ways)
    states: dict[str, Market] = {}
    runs: list[Run | str | None] = ["unknown"] * len(ways)
    taken: list[tuple[int, int]] = []
    for number in range(chunks if base else 0):
        chunk = base if number else base + rest
        if number == 1 and rest:
            runs = ["unknown"] * len(ways)
        best, most_given = -1, 0.0
        for place, way in enumerate(ways):
            if not opened[place] and sum(opened) >= most:
                continue
            if runs[place] == "unknown":
                runs[place] = board.run(way, chunk, states)
            run = runs[place]
            if isinstance(run, Run):
                given = float(run.amount_out) if opened[place] else _net(board, run)
                if best < 0 or given > most_given:
                    best, most_given = place, given
        winner = runs[best] if best >= 0 else None
        if not isinstance(winner, Run):
            break
        states.update(winner.after)
        runs = ["unknown" if _shares(way, winner) else run for way, run in zip(ways, runs, strict=True)]
        opened[best] = True
        taken.append((best, chunk))
    return taken


def exchange(board: Board, ways: Sequence[Way], amounts: list[int]) -> list[int]:
    """Move ever smaller parts from one way to another, the move that nets most first, while any nets more."""
    part, floor = board.request.amount // FINE, board.request.amount // (FINE * EXCHANGE_FLOOR)
    nets = [_net_alone(board, way, amount) for way, amount in zip(ways, amounts, strict=True)]
    trials = 0
    while len(ways) > 1 and None not in nets and part and part >= floor and trials < EXCHANGE_TRIALS:
        best: tuple[float, int, int, float, float] | None = None
        for donor, way in enumerate(ways):
            less = _net_alone(board, way, amounts[donor] - part) if amounts[donor] >= part else None
            trials += amounts[donor] >= part
            if less is None:
                continue
            for taker, other in enumerate(ways):
                more = _net_alone(board, other, amounts[taker] + part) if taker != donor else None
                trials += taker != donor
                if more is None:
                    continue
                gain = less + more - (nets[donor] or 0) - (nets[taker] or 0)
                if gain > 0 and (best is None or gain > best[0]):
                    best = gain, donor, taker, less, more
        if best is None:
            part //= 2
            continue
        _, donor, taker, nets[donor], nets[taker] = best
        amounts[donor], amounts[taker] = amounts[donor] - part, amounts[taker] + part
    return amounts


def fill_shared(board: Board, ranked: Sequence[Way]) -> Division:
    """Return a division over ways that may share markets, the largest part first; empty if it has no two parts."""
    ways = list(ranked[:SHARED_BEST])
    chunk = board.request.amount // COARSE
    probes = [(way, board.run(way, chunk)) for way in ranked[:SHARED_PROBED]] if chunk else []
    nets = sorted(((_net(board, run), way) for way, run in probes if run), key=lambda each: -each[0])
    ways += [way for net, way in nets[:SHARED_MARGINAL] if net > 0 and way not in ways]
    ways = ways[:SHARED_MOST]
    coarse = {place for place, _ in _fill(board, ways, COARSE, MOST_WAYS, gated=True)}
    active = [way for place, way in enumerate(ways) if place in coarse]
    amounts = [0] * len(active)
    for place, part in _fill(board, active, FINE, len(active), gated=False) if len(active) > 1 else []:
        amounts[place] += part
    division = sorted(_zip(amounts, active), key=lambda each: -each[0])
    return tuple(division) if len(division) > 1 else ()


def _net(board: Board, run: Run) -> float:
    return run.amount_out - board.value_gas(run.gas, board.request.token_out)


def _net_alone(board: Board, way: Way, amount: int) -> float | None:
    """Return what a way nets by itself, nothing for nothing; None if a market declines."""
    if not amount:
        return 0.0
    run = board.run(way, amount, UNTOUCHED)
    return _net(board, run) if run else None


def _shares(way: Way, run: Run) -> bool:
    return any(market in run.after for market, *_ in way)


def _zip(amounts: Sequence[int], ways: Sequence[Way]) -> Division:
    return tuple((amount, way) for amount, way in zip(amounts, ways, strict=True) if amount)
