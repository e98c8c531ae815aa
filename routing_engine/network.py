"""A division as forward edges with flows, and its replay in exact integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from routing_engine.graph import Graph
from routing_engine.model import Hop, Token


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
        weights = [max(1, int(flow)) for flow in self.flows]
        ends = graph.edges_ends(self.edges)
        for (_, source, _), weight in zip(ends, weights, strict=True):
            waiting[source] = waiting.get(source, 0) + weight
        hops = []
        for (market, source, target), weight in zip(ends, weights, strict=True):
            part = here[source] * weight // waiting[source]
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
