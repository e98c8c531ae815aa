"""Division of an amount over many paths, and a bound on what any division can give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from routing_engine.compiled import Compiled
from routing_engine.errors import QuoteRefused
from routing_engine.graph import Graph
from routing_engine.kernels import growth, pruning, reach
from routing_engine.kernels.layout import Task
from routing_engine.kernels.network import MAX_EDGES
from routing_engine.kernels.workspace import Workspace
from routing_engine.model import Hop
from routing_engine.network import Network, least
from routing_engine.request import RouteRequest
from routing_engine.route import Side

_fill_most, _clear_most = Compiled(reach.fill_most), Compiled(reach.clear_most)
_improve, _redivide = Compiled(growth.improve), Compiled(pruning.redivide)

ROUNDS = 60
MATCHES = 12
"""Newton iterations by which the input of an exact-out network is found; three or four do."""

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
        request, graph = self._request, self._graph
        amount_in = float(division.x[: division.count].sum())
        try:
            if request.side == Side.EXACT_OUT:
                return self._exact_out(division, amount_in)
            return self._network(division, request.amount).replay(graph, request.token_in, request.amount)
        except QuoteRefused:
            return None

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

    def _network(self, division: Division, amount: float) -> Network:
        order, flow = np.zeros(MAX_EDGES, np.int64), np.zeros(MAX_EDGES)
        x = division.x.copy()
        total, _, _ = _redivide(division.paths, division.count, float(amount), x, self._graph.board, order, flow)
        return Network.of(self._graph, zip(order[:total].tolist(), flow[:total].tolist(), strict=True))

    def _exact_out(self, division: Division, amount: float) -> tuple[Hop, ...] | None:
        """Find the least input for which the network, in its proportions, gives what is asked."""
        graph, request = self._graph, self._request
        order, flow = np.zeros(MAX_EDGES, np.int64), np.zeros(MAX_EDGES)
        x, shares = division.x, division.x.copy()
        for _ in range(MATCHES):
            for _ in range(2):
                _, value, price = _redivide(division.paths, division.count, amount, x, graph.board, order, flow)
                if value > 0:
                    break
                x[:] = shares  # the last division filled a market
            if value <= 0 or price <= 0:
                return None
            step = (request.amount - value) / price
            amount += step
            if abs(step) < 1e-12 * amount:
                break
        network = self._network(division, amount)

        def run(amount_in: int) -> tuple[Hop, ...] | None:
            hops = network.replay(graph, request.token_in, amount_in)
            got = sum(hop.amount_out for hop in hops if hop.token_out == request.token_out)
            return hops if got >= request.amount else None

        return least(run, int(amount))
