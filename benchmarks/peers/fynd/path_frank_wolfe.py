"""Path Frank–Wolfe: the best single way, then up to three more, each found on what the others leave of the markets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.peers.fynd.bellman_ford import find_path, list_steps
from benchmarks.peers.fynd.board import Board, Division, Step, Way
from routing_engine import Market, Route, Router, RouteRequest

GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True)
class Options:
    """Its settings, with their defaults.

    Parameters
    ----------
    max_paths : int
        Ways in a division.
    max_probe : float
        No more ways are looked for once the amount that would pay for one exceeds this part of the whole.
    min_split : float
        Ways with a smaller part of the amount are dropped.
    line_search : int
        Evaluations that find how much to move to a new way.
    """

    max_paths: int = 4
    max_probe: float = 0.25
    min_split: float = 0.05
    line_search: int = 12


Parts = list[tuple[float, Way]]
"""Parts of the amount, which sum to one, and their ways."""


class PathFrankWolfe:
    """Fynd's ``path_frank_wolfe`` on one market.

    Parameters
    ----------
    router : Router
        Whose markets and reference prices to use.
    max_hops : int
        Markets in series.
    options : Options
        Its settings.
    """

    def __init__(self, router: Router, max_hops: int = 3, options: Options | None = None) -> None:
        self._router, self._max_hops, self._options = router, max_hops, options or Options()
        self._steps = list_steps(router.snapshot.markets.values())

    def find_route(self, request: RouteRequest) -> Route | None:
        """Return the better of the single way and the division, net of gas; None where there is no way."""
        board = Board(self._router, request)
        first = find_path(board, self._steps, request.amount, self._max_hops)
        if not first:
            return None
        single = board.build_route(((request.amount, first),))
        parts = self._divide(board, first)
        divided = board.build_route(_amounts(parts, request.amount)) if len(parts) > 1 else None
        routes = [route for route in (single, divided) if route]
        return max(routes, key=lambda route: route.amount_out_net) if routes else None

    def _divide(self, board: Board, first: Way) -> Parts:
        options, amount = self._options, board.request.amount
        parts: Parts = [(1.0, first)]
        run = board.run(first, amount)
        gas = board.value_gas(run.gas, board.request.token_in) if run else 0.0
        while len(parts) < options.max_paths:
            probe = find_probe(gas, _impact(board, parts), amount, options.max_probe)
            evaluated = _run_in_turn(board, parts) if probe else None
            if evaluated is None:
                break
            free = frozenset(step for _, way in parts for step in way)
            way = find_path(board, self._steps, probe, self._max_hops, evaluated[2], free)
            if not way or any(way == other for _, other in parts):
                break
            step = self._search_line(board, parts, way)
            if step < options.min_split:
                break
            moved = [(part * (1 - step), other) for part, other in parts] + [(step, way)]
            kept = [(part, other) for part, other in moved if part >= options.min_split]
            whole = sum(part for part, _ in kept)
            grown = [(part / whole, other) for part, other in kept]
            if [other for _, other in grown] == [other for _, other in parts]:
                break
            parts = grown
        return parts

    def _search_line(self, board: Board, parts: Parts, way: Way) -> float:
        """Return the part to move to a new way that nets most; 0 where none nets more than there is."""

        def net(step: float) -> float:
            trial = [(part * (1 - step), other) for part, other in parts] + ([(step, way)] if step > 0 else [])
            evaluated = _run_in_turn(board, trial)
            if evaluated is None:
                return 0.0
            return evaluated[0] - board.value_gas(evaluated[1], board.request.token_out)

        best = search_golden(net, self._options.line_search)
        return best if net(best) > net(0.0) else 0.0


def find_probe(gas: float, impact: float, amount: int, most: float) -> int:
    """Return the amount whose saved impact pays for a way's gas; 0 where that is too large a part of the whole.

    Gas is in the token sold, as the amount is.
    """
    if impact <= 0:
        return 0
    probe = max(1, math.ceil(gas / impact))
    return probe if probe <= amount * most else 0


def search_golden(value: Callable[[float], float], evaluations: int) -> float:
    """Return where a function of one peak is largest between 0 and 1, by so many evaluations."""
    low, high = 0.0, 1.0
    left, right = high - GOLDEN, low + GOLDEN
    at_left, at_right = value(left), value(right)
    for _ in range(evaluations - 2):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = value(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = value(left)
    return left if at_left >= at_right else right


def _amounts(parts: Parts, amount: int) -> Division:
    """Return whole amounts; the last takes the rest."""
    whole = [int(amount * part) for part, _ in parts[:-1]]
    return tuple(
        (each, way) for each, (_, way) in zip([*whole, amount - sum(whole)], parts, strict=True) if each > 0
    )  # fmt: skip


def _run_in_turn(board: Board, parts: Parts) -> tuple[int, int, dict[str, Market]] | None:
    """Return output, gas with each swap counted once, and the markets, each way on what those before it left."""
    states: dict[str, Market] = {}
    gas: dict[Step, int] = {}
    total = 0
    for amount, way in _amounts(parts, board.request.amount):
        for step in way:
            swapped = board.swap(step, amount, states)
            if swapped is None:
                return None
            amount, gas[step], states[step[0]] = swapped
        total += amount
    return total, sum(gas.values()), states


def _impact(board: Board, parts: Parts) -> float:
    """Return what the division loses to its own size, beside first units on the markets that each way meets."""
    states: dict[str, Market] = {}
    lost = 0.0
    for amount, way in _amounts(parts, board.request.amount):
        ideal, out = float(amount), amount
        for step in way:
            market = states.get(step[0], board.markets[step[0]])
            ideal *= market.spot_price(step[1], step[2])
            swapped = board.swap(step, out, states)
            if swapped is None:
                return 0.0
            out, _, states[step[0]] = swapped
        lost += amount / board.request.amount * (1 - out / ideal) if ideal > 0 else 0.0
    return lost
