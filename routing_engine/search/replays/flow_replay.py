"""An allocation as forward edges with weights, and its replay in exact integers, forwards and backwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.graph.graph import Graph
from routing_engine.market import Market
from routing_engine.model import Hop, Token

HALF = 0.5
"""Edges that are not even half full are not put into another order."""

NEARLY_FULL = 0.99
"""Share of a cap from which on an edge may be given all that it takes."""

FULL = 1.0 - 1e-6
"""Share of a cap from which on an edge is full, but for what floats leave of it."""

ROUNDED_UP = 8
"""Units by which more than planned may arrive at an edge, or be sent to it: markets on the way round inputs up."""

SURELY_BELOW = 1.0 - 1e-12
"""Share of a cap, which is a float, that is surely not more than the cap."""


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """Edges in an order in which they can run, and what each takes.

    Parameters
    ----------
    edges : tuple of int
        Forward edges of the graph. Those that leave one token: the fullest first, so that what rounding leaves over
        finds an edge with spare capacity.
    ends : tuple of (Market, Token, Token)
        Market, token_in and token_out of each.
    sources, targets : tuple of int
        Numbers of these tokens.
    caps : tuple of float
        What each can surely take.
    weights : tuple of int
        What each takes of a certain amount, at least 1; of another amount, the same proportions.
    hops : tuple of Hop
        What each does with its weight, where that is known already.
    """

    edges: tuple[int, ...]
    ends: tuple[tuple[Market, Token, Token], ...]
    sources: tuple[int, ...]
    targets: tuple[int, ...]
    caps: tuple[float, ...]
    weights: tuple[int, ...]
    hops: tuple[Hop | None, ...] = ()

    @classmethod
    def of(cls, graph: Graph, edges: Sequence[int], flows: Sequence[float]) -> FlowPlan:
        """Put edges with flows, given in an order in which they can run, into the order that this class wants."""
        used = [(edge, flow) for edge, flow in zip(edges, flows, strict=True) if flow > 0.0]
        numbers = [edge for edge, _ in used]
        sources = graph.source[numbers].tolist()
        caps = graph.forward.edges["x_max"][numbers].tolist()
        leaving: dict[int, list[int]] = {}
        for place, source in enumerate(sources):
            leaving.setdefault(source, []).append(place)
        for places in leaving.values():
            places.sort(key=lambda place: min(-HALF, -used[place][1] / caps[place]))
        following = {source: iter(places) for source, places in leaving.items()}
        order = [next(following[source]) for source in sources]
        ordered = [numbers[place] for place in order]
        return cls(
            edges=tuple(ordered),
            ends=graph.edges_ends(ordered),
            sources=tuple(sources),
            targets=tuple(graph.forward.edges["other"][ordered].tolist()),
            caps=tuple([caps[place] * SURELY_BELOW for place in order]),
            weights=tuple([max(1, int(used[place][1])) for place in order]),
        )

    @property
    def amount_in(self) -> int:
        """The amount of which the weights are parts."""
        first = self.sources[0]
        return sum(weight for source, weight in zip(self.sources, self.weights, strict=True) if source == first)

    def replay(self, amount: int) -> tuple[Hop, ...]:
        """Run the plan in exact integers.

        At each token what has arrived is divided in the proportions of the weights, as far as a market takes it, and
        the last one takes what is left: no unit is lost, and none is spent twice.

        Raises
        ------
        QuoteRefused
            By the first market that declines.
        """
        here = {self.sources[0]: amount}
        waiting: dict[int, int] = {}
        for source, weight in zip(self.sources, self.weights, strict=True):
            waiting[source] = waiting.get(source, 0) + weight
        hops = []
        known = self.hops or (None,) * len(self.edges)
        rows = zip(self.ends, self.sources, self.targets, self.weights, self.caps, known, strict=True)
        for (market, token_in, token_out), source, target, weight, cap, hop in rows:
            part, weights = here[source], waiting[source]
            if weight < weights:
                part = part * weight // weights
                if part > cap:
                    part = int(cap)
            if hop is None or hop.amount_in != part:
                hop, _ = market.swap_exact_in(token_in, token_out, part)
            waiting[source] = weights - weight
            here[source] -= part
            here[target] = here.get(target, 0) + hop.amount_out
            hops.append(hop)
        return tuple(hops)

    def replay_or_none(self, amount: int) -> tuple[Hop, ...] | None:
        """Return `replay`; None where a market declines."""
        try:
            return self.replay(amount)
        except QuoteRefused:
            return None

    def add_up_output(self, hops: Sequence[Hop]) -> int:
        """Return what a replay's hops bring to the end."""
        end = self.targets[-1]
        return sum([hop.amount_out for hop, target in zip(hops, self.targets, strict=True) if target == end])

    def _is_nearly_full(self, place: int) -> bool:
        return self.weights[place] > NEARLY_FULL * self.caps[place]

    def fill(self) -> FlowPlan:
        """Return the plan that gives each edge that is full all that its market takes, to the unit.

        Curves of formulas end well before their markets do; those stay as they are.
        """
        weights, caps = list(self.weights), list(self.caps)
        for place, (market, token_in, token_out) in enumerate(self.ends):
            if weights[place] > FULL * caps[place]:
                most = market.limits(token_in, token_out).max_amount_in
                if 0 < FULL * most <= caps[place]:
                    weights[place], caps[place] = most, most
        return replace(self, weights=tuple(weights), caps=tuple(caps), hops=())

    def _buy(self, place: int, amount: int, most: int, *, is_last: bool) -> Hop:
        """Return the least input of an edge for an output, or what it gives for `most` where others can give the rest.

        Raises
        ------
        QuoteRefused
            Where the market is full and no other is left.
        """
        market, token_in, token_out = self.ends[place]
        refusal = QuoteRefused(Refusal.AMOUNT_TOO_HIGH, market.id, f"the market is full before it gives {amount}")
        try:
            hop, _ = market.swap_exact_out(token_in, token_out, amount)
            if hop.amount_in <= most:
                return hop
        except QuoteRefused as declined:
            refusal = declined
        if is_last or not self._is_nearly_full(place):
            raise refusal
        return market.swap_exact_in(token_in, token_out, most)[0]

    def plan_backwards(self, outputs: Sequence[int], amount: int, spare: int = ROUNDED_UP) -> FlowPlan:
        """Return the plan whose weights are the least inputs by which `amount` arrives.

        What is needed at a token is divided over the edges that arrive there, and what these take is needed at their
        sources. Edges that are nearly full come first, as others may have to give what they cannot. Of the others that
        which gives least for a unit comes last, so that least is given too much: nowhere more than one unit less would
        spare. A replay with these weights gives each edge no less, so at least `amount` arrives.

        Parameters
        ----------
        outputs : sequence of int
            Proportions in which the edges share what is needed, each at least 1.
        amount : int
            What is to arrive.
        spare : int
            Units that are left free where a market is full, and as many of what leads there as bring one.

        Raises
        ------
        QuoteRefused
            By the first market that cannot give its part.
        """
        arriving: dict[int, list[int]] = {}
        for place, target in enumerate(self.targets):
            arriving.setdefault(target, []).append(place)
        grains = {
            token: max(outputs[place] / self.weights[place] for place in places) for token, places in arriving.items()
        }
        needed = dict.fromkeys(self.sources, 0) | {self.targets[-1]: amount}
        hops: list[Hop | None] = [None] * len(self.edges)
        for token in reversed(needed):  # each after those that it leads to
            places = arriving.get(token, [])
            places.sort(key=lambda place: (not self._is_nearly_full(place), self.weights[place] / outputs[place]))
            need, waiting = needed[token], sum(outputs[place] for place in places)
            for place in places:
                # Whatever more than is needed one unit of a coarse token brings must find room.
                free = ceil(spare * (1.0 + grains.get(self.sources[place], 0.0)))
                most = max(1, int(self.caps[place]) - free)
                part = max(1, need * outputs[place] // waiting)
                hops[place] = hop = self._buy(place, part, most, is_last=place == places[-1])
                needed[self.sources[place]] += hop.amount_in
                need -= hop.amount_out
                waiting -= outputs[place]
        return replace(self, weights=tuple([hop.amount_in for hop in hops if hop]), hops=tuple(hops))
