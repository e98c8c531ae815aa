"""Ways that water-filling chooses among: all short ones by price and depth, and a search that carries amounts."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from benchmarks.peers.fynd.bellman_ford import Outgoing, count_hops
from benchmarks.peers.fynd.board import Board, Step, Way
from routing_engine import QuoteRefused, Router, Token

MOST = 5_000
"""Ways kept by price and depth."""

MOST_SEARCHED = 128
STATES_PER_TOKEN, STEPS_PER_STATE = 4, 16
PARALLEL_TO_TARGET, PARALLEL_ELSEWHERE = 4, 2
ANCHORS = 16
"""Tokens with most pools, which the bounded search passes through first."""

DEPTH_LOSS = 0.005
"""A pool is as deep as the sale whose average price is this far below the first unit's: half of the last unit's."""

Score = tuple[float, float]
"""Price of the first unit after fees, and depth, in the currency of the reference prices."""


def score_steps(router: Router, steps: Outgoing) -> dict[Step, Score]:
    """Return price and depth of every step; a step without a price is left out."""
    graph, found = router.graph, {}
    for token, leaving in steps.items():
        worth = float(graph.prices[graph.index[token]])
        for step in leaving:
            market = router.snapshot.markets[step[0]]
            price = market.spot_price(step[1], step[2])
            if price > 0 and worth > 0:
                found[step] = price, worth * _find_depth(router, step, price)
    return found


def _find_depth(router: Router, step: Step, price: float) -> float:
    """Return the largest power of two that sells for little less than the first unit's price; 0 if none does."""
    market = router.snapshot.markets[step[0]]
    limits = market.limits(step[1], step[2])
    low, high = max(1, limits.min_amount_in).bit_length(), max(1, limits.max_amount_in).bit_length() - 1
    best = 0.0
    while low <= high:
        middle = (low + high) // 2
        try:
            sold = market.swap_exact_in(step[1], step[2], 1 << middle)[0].amount_out
        except QuoteRefused:
            sold = 0
        # Few units round to nothing: that is no lack of depth.
        if sold >= (1 - DEPTH_LOSS) * price * 2.0**middle - 1:
            best, low = 2.0**middle, middle + 1
        else:
            high = middle - 1
    return best


def list_ways(
    steps: Outgoing, scores: dict[Step, Score], source: Token, target: Token, max_hops: int
) -> list[Way]:  # fmt: skip
    """Return the simple ways with the best product of prices times least depth, best first."""
    far = count_hops(steps, target)

    def extend(way: Way, price: float, depth: float) -> Iterator[tuple[float, int, Way]]:
        left = max_hops - len(way) - 1
        for step in steps.get(way[-1][2] if way else source, []):
            other = step[2]
            if far.get(other, max_hops) > left or other == source or step not in scores:
                continue
            if any(step[0] == market or other == token for market, _, token in way):
                continue
            rate, deep = scores[step]
            longer = (*way, step)
            if other == target:
                yield price * rate * min(depth, deep), next(numbers), longer
            elif left:
                yield from extend(longer, price * rate, min(depth, deep))

    numbers = iter(range(0, -(10**12), -1))
    return [way for *_, way in heapq.nlargest(MOST, extend((), 1.0, float("inf")))]


def search_ways(board: Board, steps: Outgoing, max_hops: int) -> list[Way]:
    """Return ways that a frontier finds which carries the whole amount, by what they give, best first."""
    source, target = board.request.token_in, board.request.token_out
    anchors = find_anchors(steps)
    found: list[tuple[int, Way]] = []
    frontier: list[tuple[int, Way]] = [(board.request.amount, ())]
    for hop in range(max_hops):
        reached: dict[Token, list[tuple[int, Way]]] = {}
        for amount, way in frontier:
            for out, step in _choose_steps(board, steps, anchors, amount, way):
                longer = (out, (*way, step))
                if step[2] == target:
                    found.append(longer)
                elif hop + 1 < max_hops and step[2] != source:
                    reached.setdefault(step[2], []).append(longer)
        frontier = [
            each
            for states in reached.values()
            for each in sorted(states, key=lambda state: -state[0])[:STATES_PER_TOKEN]
        ]
    found.sort(key=lambda each: -each[0])
    return list(dict.fromkeys(way for _, way in found))[:MOST_SEARCHED]


def find_anchors(steps: Outgoing) -> frozenset[Token]:
    """Return the tokens with most pools, and the chain's coin."""
    ranked = sorted(steps, key=lambda token: -len(steps[token]))
    return frozenset([*ranked[:ANCHORS], *(token for token in steps if token.is_native)])


def _choose_steps(
    board: Board, steps: Outgoing, anchors: frozenset[Token], amount: int, way: Way
) -> list[tuple[int, Step]]:
    """Return outputs and steps: to the target first, then to anchors; to anywhere only where there are neither."""
    source, target = board.request.token_in, board.request.token_out
    ranked: list[tuple[int, int, Step]] = []
    for anywhere in (False, True):
        for step in steps.get(way[-1][2] if way else source, []):
            rank = 0 if step[2] == target else 2 if step[2] in anchors else 3
            if rank == 3 and not anywhere:
                continue
            if step[2] == source or any(step[0] == market or step[2] == token for market, _, token in way):
                continue
            swapped = board.swap(step, amount)
            if swapped is not None:
                ranked.append((rank, -swapped[0], step))
        if ranked:
            break
    ranked.sort(key=lambda each: each[:2])
    chosen: list[tuple[int, Step]] = []
    parallel: dict[Token, int] = {}
    for rank, out, step in ranked:
        parallel[step[2]] = parallel.get(step[2], 0) + 1
        if parallel[step[2]] <= (PARALLEL_ELSEWHERE if rank else PARALLEL_TO_TARGET):
            chosen.append((-out, step))
    return chosen[:STEPS_PER_STATE]
