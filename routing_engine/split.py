"""Division of an amount over many paths: the kernel's network, replayed in exact integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from routing_engine.errors import QuoteRefused
from routing_engine.graph import Graph
from routing_engine.kernels.growth import improve
from routing_engine.kernels.layout import Task
from routing_engine.kernels.network import MAX_EDGES
from routing_engine.kernels.pruning import redivide
from routing_engine.kernels.reach import clear_most, fill_most
from routing_engine.kernels.workspace import Workspace
from routing_engine.model import Hop, Token
from routing_engine.request import RouteRequest
from routing_engine.route import Side

ROUNDS = 60
MATCHES = 12
"""Newton iterations by which the input of an exact-out network is found; three or four do."""


@dataclass(frozen=True, slots=True)
class Network:
    """Forward edges in an order in which they can run, and what each takes, in floats."""

    edges: tuple[int, ...]
    flows: tuple[float, ...]

    def replay(self, graph: Graph, token_in: Token, amount: int) -> tuple[Hop, ...]:
        """Run the network in exact integers.

        At each token what has arrived is divided in the proportions of the flows, and the last market takes what is
        left: no unit is lost, and none is spent twice.

        Raises
        ------
        QuoteRefused
            By the first market that declines.
        """
        here = {token_in: amount}
        waiting: dict[Token, int] = {}
        for edge in self.edges:
            token = graph.edge_ends(edge)[1]
            waiting[token] = waiting.get(token, 0) + self._weight(edge)
        hops = []
        for edge in self.edges:
            market, source, target = graph.edge_ends(edge)
            weight = self._weight(edge)
            part = here[source] * weight // waiting[source]
            hop, _ = market.swap_exact_in(source, target, part)
            waiting[source] -= weight
            here[source] -= part
            here[target] = here.get(target, 0) + hop.amount_out
            hops.append(hop)
        return tuple(hops)

    def _weight(self, edge: int) -> int:
        return max(1, int(self.flows[self.edges.index(edge)]))


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
        self._task = Task(
            allowed=allowed, gas=gas_cost * graph.units[end], start=start, end=end, max_hops=request.max_hops
        )

    def split(self, edges: Iterable[int], amount_in: int) -> tuple[Hop, ...] | None:
        """Divide over more paths than the one given, while the net output grows.

        Parameters
        ----------
        edges : iterable of int
            Forward edges of the best single path.
        amount_in : int
            Its input; for exact-out the network's will be less.

        Returns
        -------
        tuple of Hop, or None
            None where more paths bring nothing, or a market declines its exact part.
        """
        request, graph = self._request, self._graph
        paths = np.full((request.max_splits, request.max_hops), -1, np.int32)
        first = list(edges)
        paths[0, : len(first)] = first
        x = np.zeros(request.max_splits)
        x[0] = amount_in
        scratch, load, worths = self._workspace
        reached = fill_most(graph.board, load, self._task, float(amount_in), scratch.near)
        net, count, bound = improve(
            paths, 1, float(amount_in), x, graph.board, load, self._task, scratch, worths, ROUNDS
        )
        clear_most(load, reached)
        self.net,self.bound = net,bound
        if count < 2:
            return None
        try:
            if request.side == Side.EXACT_OUT:
                return self._exact_out(paths, count, x, float(amount_in))
            return self._network(paths, count, x, float(amount_in)).replay(graph, request.token_in, amount_in)
        except QuoteRefused:
            return None

    def _network(self, paths: npt.NDArray[np.int32], count: int, x: npt.NDArray[np.float64], amount: float) -> Network:
        graph = self._graph
        order, flow = np.zeros(MAX_EDGES, np.int64), np.zeros(MAX_EDGES)
        total, _, _ = redivide(paths, count, amount, x, graph.board, order, flow)
        used = [(edge, part) for edge, part in zip(order[:total].tolist(), flow[:total].tolist(), strict=True) if part]
        return Network(tuple(edge for edge, _ in used), tuple(part for _, part in used))

    def _exact_out(
        self, paths: npt.NDArray[np.int32], count: int, x: npt.NDArray[np.float64], amount: float
    ) -> tuple[Hop, ...] | None:
        """Find the least input for which the network, in its proportions, gives what is asked."""
        graph, request = self._graph, self._request
        order, flow = np.zeros(MAX_EDGES, np.int64), np.zeros(MAX_EDGES)
        for _ in range(MATCHES):
            _, value, price = redivide(paths, count, amount, x, graph.board, order, flow)
            if value <= 0 or price <= 0:
                return None
            step = (request.amount - value) / price
            amount += step
            if abs(step) < 1e-12 * amount:
                break
        network = self._network(paths, count, x, amount)

        def run(amount_in: int) -> tuple[Hop, ...] | None:
            hops = network.replay(graph, request.token_in, amount_in)
            got = sum(hop.amount_out for hop in hops if hop.token_out == request.token_out)
            return hops if got >= request.amount else None

        return _least(run, int(amount))


def _least(run: Callable[[int], tuple[Hop, ...] | None], guess: int) -> tuple[Hop, ...] | None:
    """Return what `run` gives for the least amount at which it gives anything, searching around a close guess."""
    step = max(1, guess // 10**12)
    low, high, hops = guess, guess, run(guess)
    if hops is None:
        while hops is None:
            low, high = high, high + step
            step *= 4
            if step > guess:
                return None
            hops = run(high)
    else:
        while low > 0 and (fewer := run(max(0, low - step))) is not None:
            low, hops = max(0, low - step), fewer
            high, step = low, step * 4
        low = max(0, low - step)
    while high - low > 1:
        middle = (low + high) // 2
        found = run(middle)
        if found is None:
            low = middle
        else:
            high, hops = middle, found
    return hops
