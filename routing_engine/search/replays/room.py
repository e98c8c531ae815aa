"""Plans that give full markets a little less, so that what rounding adds finds room."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from math import inf

from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.model import Hop
from routing_engine.search.replays.flow_replay import FlowPlan

EASED = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Parts less that a market is given in turn where it is full before it takes its part."""


def replay_with_room(plan: FlowPlan, amount: int) -> tuple[FlowPlan, tuple[Hop, ...]]:
    """Return a plan that runs, and its hops: this one, or one by which full markets are given a little less.

    More may arrive at one in integers than in floats, where all that leaves its token is full. Where all of them have
    to be filled to the last unit, what the markets themselves say that they take counts.

    Raises
    ------
    QuoteRefused
        By the first market that declines whatever is done.
    """
    try:
        return _replay_eased(plan, amount)
    except QuoteRefused as refusal:
        filled = plan.fill()
        if refusal.reason == Refusal.AMOUNT_TOO_LOW or filled.caps == plan.caps:
            raise
        hops = filled.replay_or_none(amount)
        if hops is None:
            raise
        return filled, hops


def _replay_eased(plan: FlowPlan, amount: int) -> tuple[FlowPlan, tuple[Hop, ...]]:
    """Return a plan that runs, of the caps that floats know; raises as `replay_with_room`."""
    tries = Counter[str]()
    while True:
        try:
            return plan, plan.replay(amount)
        except QuoteRefused as refusal:
            market = refusal.market_id
            is_full = refusal.reason != Refusal.AMOUNT_TOO_LOW and tries[market] < len(EASED)
            eased = _ease(plan, market, EASED[tries[market]]) if is_full else None
            if eased is None:
                raise
        tries[market] += 1
        plan = eased


def _ease(plan: FlowPlan, market_id: str, part: float) -> FlowPlan | None:
    """Return the plan with a part less for a market; None where the others cannot be given it.

    Less arrives where the market starts, as all others there are full before it. Where all that leaves a token
    goes to such a place, less arrives there too. What is taken off goes to an edge beside it that has room.
    """
    weights, caps = list(plan.weights), list(plan.caps)
    full = next(place for place, (market, _, _) in enumerate(plan.ends) if market.id == market_id)
    caps[full] *= 1.0 - part
    has_room, taken_off, room = {plan.targets[-1]}, Counter[int](), _measure_room(plan)
    beside: dict[int, list[int]] = {}
    for place in reversed(range(len(weights))):  # what leaves a token comes after all that arrives there
        token, source = plan.targets[place], plan.sources[place]
        if place != full and token in has_room and token != plan.sources[full]:
            has_room.add(source)
            beside.setdefault(source, []).append(place)
        else:
            less = max(1, int(weights[place] * part))
            weights[place] -= less
            taken_off[source] += less
    for source in taken_off.keys() & beside.keys():
        weights[max(beside[source], key=room.__getitem__)] += taken_off[source]
    if plan.sources[0] not in has_room or min(weights) < 1:
        return None
    return replace(plan, weights=tuple(weights), caps=tuple(caps), hops=())


def _measure_room(plan: FlowPlan) -> list[float]:
    """Return how many times its weight each edge could take, as far as all that leads on from it takes that."""
    room, taken, given = [inf] * len(plan.edges), Counter[int](), defaultdict[int, float](float)
    for place in reversed(range(len(plan.edges))):
        source, target, weight = plan.sources[place], plan.targets[place], plan.weights[place]
        onward = given[target] / taken[target] if taken[target] else inf
        room[place] = min(plan.caps[place] / weight, onward)
        given[source] += room[place] * weight
        taken[source] += weight
    return room
