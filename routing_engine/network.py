"""A division as forward edges with flows, and its replay in exact integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from routing_engine.graph import Graph
from routing_engine.model import Hop, Token

HALF = 0.5
"""Edges that are not even half full are not put into another order."""

ROOM = 1.0 - 1e-12
"""Share of a cap, which is a float, that is surely not more than the cap."""


@dataclass(frozen=True, slots=True)
class Network:
    """Forward edges in an order in which they can run, and what each takes.

    Parameters
    ----------
    edges : tuple of int
        Those that leave one token: the fullest first, so that what rounding leaves over finds room.
    flows : tuple of float
        What each takes of a certain amount; of another amount, the same proportions.
    caps : tuple of float
        What each can take at most.
    """

    edges: tuple[int, ...]
    flows: tuple[float, ...]
    caps: tuple[float, ...]

    @classmethod
    def of(cls, graph: Graph, flows: Iterable[tuple[int, float]]) -> Network:
        """Put edges with flows, given in an order in which they can run, into the order that this class wants."""
        used = [(edge, flow) for edge, flow in flows if flow > 0.0]
        x_max = graph.forward.edges["x_max"]
        leaving: dict[int, list[tuple[int, float]]] = {}
        for edge, flow in used:
            leaving.setdefault(int(graph.source[edge]), []).append((edge, flow))
        for rows in leaving.values():
            rows.sort(key=lambda row: min(-HALF, -row[1] / x_max[row[0]]))
        following = {token: iter(rows) for token, rows in leaving.items()}
        ordered = [next(following[int(graph.source[edge])]) for edge, _ in used]
        edges = tuple(edge for edge, _ in ordered)
        return cls(edges, tuple(flow for _, flow in ordered), tuple(x_max[list(edges)].tolist()))

    def replay(self, graph: Graph, token_in: Token, amount: int) -> tuple[Hop, ...]:
        """Run the network in exact integers.

        At each token what has arrived is divided in the proportions of the flows, as far as a market takes it, and the
        last one takes what is left: no unit is lost, and none is spent twice.

        Raises
        ------
        QuoteRefused
            By the first market that declines.
        """
        here = {token_in: amount}
        waiting: dict[Token, int] = {}
        weights = [max(1, int(flow)) for flow in self.flows]
        ends = graph.edges_ends(self.edges)
        for (_, source, _), weight in zip(ends, weights, strict=True):
            waiting[source] = waiting.get(source, 0) + weight
        hops = []
        for (market, source, target), weight, cap in zip(ends, weights, self.caps, strict=True):
            part = here[source] * weight // waiting[source]
            if weight < waiting[source] and part > cap * ROOM:
                part = int(cap * ROOM)
            hop, _ = market.swap_exact_in(source, target, part)
            waiting[source] -= weight
            here[source] -= part
            here[target] = here.get(target, 0) + hop.amount_out
            hops.append(hop)
        return tuple(hops)


def least(run: Callable[[int], tuple[Hop, ...] | None], guess: int) -> tuple[Hop, ...] | None:
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
