"""Division of an amount over many paths: the kernel's network, replayed in exact integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from routing_engine.errors import QuoteRefused
from routing_engine.graph import Graph
from routing_engine.kernels.flows import MAX_EDGES
from routing_engine.kernels.layout import Load, Scratch
from routing_engine.kernels.reach import most_at_each_token
from routing_engine.kernels.split import improve, redivide
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
    scratch : Scratch
        Of this thread.
    """

    def __init__(
        self,
        graph: Graph,
        request: RouteRequest,
        gas_cost: npt.NDArray[np.float64],
        allowed: npt.NDArray[np.bool_],
        scratch: Scratch,
    ) -> None:
        self._graph, self._request, self._scratch = graph, request, scratch
        self._start, self._end = graph.index[request.token_in], graph.index[request.token_out]
        self._gas = gas_cost[graph.forward.edges["chain"]] * graph.units[self._end]
        self._allowed = allowed

    def split(self, starts: Sequence[tuple[Sequence[int], int]]) -> tuple[Hop, ...] | None:
        """Divide over more paths than those given, while the net output grows.

        Parameters
        ----------
        starts : sequence of (edges, amount_in)
            Forward edges and input of the paths to begin with, at most as many as may be used: the best single path,
            or several that only together take the amount. For exact-out the inputs of the result may differ.

        Returns
        -------
        tuple of Hop, or None
            None where more paths bring nothing, or a market declines its exact part.
        """
        request, graph = self._request, self._graph
        paths = np.full((request.max_splits, request.max_hops), -1, np.int32)
        x = np.zeros(request.max_splits)
        for place, (edges, part) in enumerate(starts):
            paths[place, : len(edges)] = edges
            x[place] = part
        amount_in = sum(part for _, part in starts) if request.side == Side.EXACT_OUT else request.amount
        first_paths, first_x = paths.copy(), x.copy()
        _, count = improve(
            paths, len(starts), float(amount_in), x, graph.forward, graph.reverse, graph.source, graph.tables,
            self._load(amount_in), self._start, self._end, request.max_hops, self._scratch, ROUNDS,
        )  # fmt: skip
        if count < 2:
            return None
        try:
            if request.side == Side.EXACT_OUT:
                found = self._exact_out(paths, count, x, float(amount_in))
                # Where markets are full they take no more: several starts leave room, and may serve as they are.
                return found or self._exact_out(first_paths, len(starts), first_x, float(amount_in))
            return self._network(paths, count, x, float(amount_in)).replay(graph, request.token_in, amount_in)
        except QuoteRefused:
            return None

    def _load(self, amount_in: int) -> Load:
        graph, edges = self._graph, self._graph.forward.edges
        most = most_at_each_token(
            graph.forward, graph.reverse, self._allowed, self._start, self._end, float(amount_in),
            self._request.max_hops,
        )  # fmt: skip
        return Load(
            flow=np.zeros(edges.size),
            owner=np.full(len(graph.markets), -1, np.int32),
            closed=~self._allowed[edges["market"]],
            cost=edges["gas"] * self._gas,
            piece_cost=edges["gas_per_piece"] * self._gas,
            most=most,
        )

    def _network(self, paths: npt.NDArray[np.int32], count: int, x: npt.NDArray[np.float64], amount: float) -> Network:
        graph = self._graph
        order, flow = np.zeros(MAX_EDGES, np.int64), np.zeros(MAX_EDGES)
        total, _, _ = redivide(paths, count, amount, x, graph.forward.edges, graph.source, graph.tables, order, flow)
        used = [(edge, part) for edge, part in zip(order[:total].tolist(), flow[:total].tolist(), strict=True) if part]
        return Network(tuple(edge for edge, _ in used), tuple(part for _, part in used))

    def _exact_out(
        self, paths: npt.NDArray[np.int32], count: int, x: npt.NDArray[np.float64], amount: float
    ) -> tuple[Hop, ...] | None:
        """Find the least input for which the network, in its proportions, gives what is asked."""
        graph, request = self._graph, self._request
        order, flow = np.zeros(MAX_EDGES, np.int64), np.zeros(MAX_EDGES)
        shares = x.copy()
        for _ in range(MATCHES):
            for _ in range(2):
                _, value, price = redivide(
                    paths, count, amount, x, graph.forward.edges, graph.source, graph.tables, order, flow
                )
                if value > 0:
                    break
                x = shares.copy()  # the last division filled a market
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
