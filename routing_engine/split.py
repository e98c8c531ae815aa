"""Division of an amount over many paths, and a bound on what any division can give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from routing_engine.compiled import Compiled
from routing_engine.errors import QuoteRefused
from routing_engine.graph import Graph
from routing_engine.kernels import curves, growth, pruning, reach
from routing_engine.kernels.layout import Task
from routing_engine.kernels.network import MAX_EDGES
from routing_engine.kernels.workspace import Workspace
from routing_engine.model import Hop
from routing_engine.network import Network, least
from routing_engine.request import RouteRequest
from routing_engine.route import Side

_fill_most, _clear_most = Compiled(reach.fill_most), Compiled(reach.clear_most)
_amounts_out = Compiled(curves.amounts_out)
_improve, _redivide = Compiled(growth.improve), Compiled(pruning.redivide)

ROUNDS = 60
MATCHES = 12
MATCH = 1e-9
"""Newton iterations by which the input of an exact-out network is found, and what the last may change; two or three do.

It gives proportions only: integers give the amounts.
"""

NEAR = 1e-12
"""How far from the input so found the exact one is looked for first, where it cannot be computed backwards."""

TURNS, CLOSE = 4, 1e-8
"""How often the worth of gas is corrected in the bound of an exact-out network, and when it is right."""

Paths = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Start = tuple[Sequence[int], int]


@dataclass(frozen=True, slots=True)
class Division:
    """Paths, and the input of each.

    Parameters
    ----------
    paths : int32 array, shape (room, max_hops)
        Forward edges, -1 past the end; the first `count` rows are in use.
    x : float64 array, shape (room,)
        Inputs.
    count : int
        Paths in use.
    bound : float
        No division of the same input has a larger net output, in units of the target.
    slope : float
        What a unit less of input takes off the bound.
    """

    paths: Paths
    x: Floats
    count: int
    bound: float
    slope: float


class Splitter:
    """Improve single paths of one request into networks.

    Parameters
    ----------
    graph : Graph
        What is routed over.
    request : RouteRequest
        Whose tokens are in the graph.
    gas_cost : float64 array
        From `Graph.gas_cost`.
    allowed : bool array, shape (markets,)
        Markets that may be used.
    workspace : Workspace
        Of this thread.
    """

    def __init__(
        self,
        graph: Graph,
        request: RouteRequest,
        gas_cost: npt.NDArray[np.float64],
        allowed: npt.NDArray[np.bool_],
        workspace: Workspace,
    ) -> None:
        self._graph, self._request, self._workspace = graph, request, workspace
        start, end = graph.index[request.token_in], graph.index[request.token_out]
        self._gas_cost = gas_cost
        self._task = Task(
            allowed=allowed, gas=gas_cost * graph.units[end], start=start, end=end, max_hops=request.max_hops
        )

    def divide(self, starts: Sequence[Start]) -> Division:
        """Divide over more paths than those given, while the net output grows.

        Parameters
        ----------
        starts : sequence of (edges, amount_in)
            Forward edges and input of the paths to begin with, at most as many as may be used: the best single path,
            or several that only together take the amount. For exact-out the inputs of the result will be less.
        """
        return self._improved(starts, self._task, self._request.max_splits, ROUNDS)

    def judge(self, starts: Sequence[Start]) -> Division:
        """Return a division over just these paths, with its bound."""
        return self._improved(starts, self._task, len(starts), 0)

    def hops(self, division: Division) -> tuple[Hop, ...] | None:
        """Replay a division in exact integers; None where a market declines its exact part."""
        request = self._request
        if request.side == Side.EXACT_OUT:
            return self._exact_out(division)
        edges, flows, _, _ = self._redivided(division, float(request.amount), division.x.copy())
        return _replayed(Network.of(self._graph, edges, flows), request.amount) if edges else None

    def least_input(self, division: Division, gross: float) -> float:
        """Return what no route that gives the request's output costs less than, gas valued in the input.

        Parameters
        ----------
        division : Division
            That gives the output.
        gross : float
            Its input and gas.

        With gas priced at `worth` units of output for one of input, a bound ``out - worth * gas <= slope * in + rest``
        says that ``in + gas >= (out - rest) / max(slope, worth)``. It is tightest where the two are equal.
        """
        parts = division.x[: division.count]
        scaled = parts * (gross / parts.sum())
        rows = [[edge for edge in row if edge >= 0] for row in division.paths[: division.count].tolist()]
        starts = list(zip(rows, scaled.tolist(), strict=True))
        free = not self._gas_cost.any()  # then its worth does not matter, and the input bounds itself
        worth, most = division.slope, 0.0
        for _ in range(1 if free else TURNS):
            if worth <= 0.0:
                break
            task = self._task._replace(gas=self._gas_cost * self._graph.units[self._task.start] * worth)
            judged = self._improved(starts, task, division.count, 0, linear=True)
            rest = judged.bound - judged.slope * gross
            price = judged.slope if free and judged.slope > 0.0 else max(judged.slope, worth)
            most = max(most, (self._request.amount - rest) / price)
            if abs(judged.slope - worth) <= CLOSE * worth:
                break
            worth = judged.slope
        return most

    def _improved(
        self,
        starts: Sequence[tuple[Sequence[int], float]],
        task: Task,
        room: int,
        rounds: int,
        *,
        linear: bool = False,
    ) -> Division:
        scratch, load, worths = self._workspace
        paths, x = np.full((room, task.max_hops), -1, np.int32), np.zeros(room)
        for place, (edges, part) in enumerate(starts):
            paths[place, : len(edges)] = edges
            x[place] = part
        amount, board = float(x.sum()), self._graph.board
        reached = _fill_most(board, load, task, amount, scratch.near, False)
        _, count, bound, slope = _improve(
            paths, len(starts), amount, x, board, load, task, scratch, worths, rounds,
            self._graph.wraps, 0 if linear else reached,
        )  # fmt: skip
        _clear_most(load, reached)
        return Division(paths, x, count, bound, slope)

    def _redivided(self, division: Division, amount: float, x: Floats) -> tuple[list[int], list[float], float, float]:
        """Divide another amount over the same paths, beginning with the proportions of `x`, which is changed.

        Returns
        -------
        edges, flows : list of int, list of float
            In an order in which they can run; empty if the paths do not go together.
        value, price : float
            Output, and its growth by one more unit of input.
        """
        order, flow = np.empty(MAX_EDGES, np.int64), np.empty(MAX_EDGES)
        total, value, price = _redivide(division.paths, division.count, amount, x, self._graph.board, order, flow)
        return order[:total].tolist(), flow[:total].tolist(), value, price

    def _exact_out(self, division: Division) -> tuple[Hop, ...] | None:
        """Find the least input for which the network, in its proportions, gives what is asked."""
        request, x, shares = self._request, division.x, division.x.copy()
        amount = float(x[: division.count].sum())
        for _ in range(MATCHES):
            for _ in range(2):
                edges, flows, value, price = self._redivided(division, amount, x)
                if value > 0:
                    break
                x[:] = shares  # the last division filled a market
            if value <= 0 or price <= 0:
                return None
            step = (request.amount - value) / price
            amount += step
            if abs(step) < MATCH * amount:
                break
        network = Network.of(self._graph, edges, flows)

        def run(network: Network, amount_in: int) -> tuple[Hop, ...] | None:
            hops = _replayed(network, amount_in)
            return hops if hops and network.arrived(hops) >= request.amount else None

        backwards = self._backwards(network)
        hops = backwards and least(partial(run, backwards), backwards.amount_in, 1)
        return hops or least(partial(run, network), int(amount), max(1, int(amount * NEAR)))

    def _backwards(self, network: Network) -> Network | None:
        """Return the network with the least inputs that give what is asked; None where some market is full."""
        rows, flows = self._graph.forward.edges[list(network.edges)], np.array(network.weights, np.float64)
        outputs = _amounts_out(rows, self._graph.tables, np.minimum(flows, rows["x_max"]))
        if not outputs.min() > 0.0:  # or NaN
            return None
        try:
            return network.backwards([max(1, int(each)) for each in outputs.tolist()], self._request.amount)
        except QuoteRefused:
            return None


def _replayed(network: Network, amount: int) -> tuple[Hop, ...] | None:
    try:
        return network.replay(amount)
    except QuoteRefused:
        return None
