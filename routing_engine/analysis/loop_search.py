"""Loops of edges whose spot prices give more than one unit for one."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from routing_engine.market import Market
from routing_engine.model import Token


@dataclass(frozen=True, slots=True)
class PricedDirection:
    """One way through a market, with the logarithm of its spot price after fees."""

    market: Market
    token_in: Token
    token_out: Token
    log_price: float


Loop = tuple[PricedDirection, ...]
Outgoing = dict[Token, list[PricedDirection]]


def list_directions(markets: Iterable[Market], *, is_bridge_allowed: bool) -> Iterator[PricedDirection]:
    """Yield the directions that have a price."""
    for market in markets:
        for token_in, token_out in market.edges():
            price = market.spot_price(token_in, token_out)
            if price > 0 and (is_bridge_allowed or token_in.chain_id == token_out.chain_id):
                yield PricedDirection(market, token_in, token_out, math.log(price))


def find_loops(directions: Iterable[PricedDirection], max_hops: int, most: int) -> list[tuple[float, Loop]]:
    """Return the loops that gain most by spot prices, with the logarithm of the gain; each loop once.

    No token is passed twice, and no market is used twice. A loop begins at the token with the most markets that it
    passes: once all loops through a token are known, the token is left out of what follows. On the way a path is given
    up where even the best way home, in the hops that are left, would gain nothing.
    """
    outgoing: Outgoing = defaultdict(list)
    for direction in directions:
        outgoing[direction.token_in].append(direction)
    by_degree = sorted(outgoing, key=lambda token: (-len(outgoing[token]), token.key))
    best: list[tuple[float, int, Loop]] = []
    order = count()
    for start in by_degree:
        homeward = _measure_homeward(outgoing, start, max_hops)
        for gain, loop in _walk(outgoing, start, homeward, max_hops):
            entry = gain, -next(order), loop
            if len(best) < most:
                heapq.heappush(best, entry)
            else:
                heapq.heappushpop(best, entry)
        _leave_out(outgoing, start)
    return [(gain, loop) for gain, _, loop in sorted(best, key=lambda entry: (-entry[0], -entry[1]))]


def _measure_homeward(outgoing: Outgoing, start: Token, max_hops: int) -> list[dict[Token, float]]:
    """Return for each number of hops the best that any walk of at most so many makes of a token on its way to `start`.

    Walks may use markets and tokens twice, so this is never too little.
    """
    incoming: Outgoing = defaultdict(list)
    reached = {start}
    frontier = {start}
    for _ in range(max_hops):  # nothing farther away than this comes home in time
        frontier = {each.token_out for token in frontier for each in outgoing.get(token, ())} - reached
        reached |= frontier
    for token in reached:
        for each in outgoing.get(token, ()):
            incoming[each.token_out].append(each)
    best = [{start: 0.0}]
    for _ in range(max_hops - 1):
        known = best[-1]
        following = dict(known)
        for token, value in known.items():
            for each in incoming.get(token, ()):
                if value + each.log_price > following.get(each.token_in, -math.inf) and each.token_in != start:
                    following[each.token_in] = value + each.log_price
        best.append(following)
    return best


def _walk(
    outgoing: Outgoing, start: Token, homeward: Sequence[dict[Token, float]], max_hops: int
) -> Iterator[tuple[float, Loop]]:
    """Yield the loops from a token and back that gain by spot prices."""
    paths: list[tuple[float, Loop]] = [(0.0, ())]
    while paths:
        gain, path = paths.pop()
        at = path[-1].token_out if path else start
        left = max_hops - len(path) - 1
        passed = {each.token_in for each in path} - {start}
        for each in outgoing.get(at, ()):
            reached = gain + each.log_price
            if each.token_out in passed or any(each.market.id == used.market.id for used in path):
                continue
            if each.token_out == start:
                if path and reached > 0.0:
                    yield reached, (*path, each)
            elif left > 0 and reached + homeward[left].get(each.token_out, -math.inf) > 0.0:
                paths.append((reached, (*path, each)))


def _leave_out(outgoing: Outgoing, token: Token) -> None:
    """Take a token out of the graph, with all that leads to it."""
    for neighbour in {each.token_out for each in outgoing.pop(token)}:
        if neighbour in outgoing:
            outgoing[neighbour] = [each for each in outgoing[neighbour] if each.token_out != token]
