"""Plans that give full markets a little less, so that what rounding adds finds room."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product
from math import inf

from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.model import Hop
from routing_engine.search.replays.flow_replay import FlowPlan

EASED = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Parts less that a market is given in turn where it is full before it takes its part."""


def replay_with_room(plan: FlowPlan, amount: int) -> tuple[FlowPlan, tuple[Hop, ...]]:
    """Return a plan that runs, and its hops: this one, or one by which full markets are given a little less.

    More may arrive at one in integers than in floats, where all that leaves its token is full. Where all of them have
    to be filled to the last unit, what the markets themselves say that they take counts; where all ends at a full
    market, a division that gives a little less leaves room.

    Raises
    ------
    QuoteRefused
        By the first market that declines whatever is done.
    """
    try:
        return _replay_eased(plan, amount)
    except QuoteRefused as refusal:
        found = None
        if refusal.reason != Refusal.AMOUNT_TOO_LOW:
            found = _replay_filled(plan, amount) or _divide_otherwise(plan, amount)
        if found is None:
            raise
        return found


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


def _replay_filled(plan: FlowPlan, amount: int) -> tuple[FlowPlan, tuple[Hop, ...]] | None:
    """Return the plan that fills full markets to the unit, and its hops; None if there are none, or it does not run."""
    filled = plan.fill()
    hops = filled.replay_or_none(amount) if filled.caps != plan.caps else None
    return (filled, hops) if hops else None


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


def _divide_otherwise(plan: FlowPlan, amount: int) -> tuple[FlowPlan, tuple[Hop, ...]] | None:
    """Return a plan that divides what is at a token a little otherwise, and its hops; None where none of these runs.

    Where all of an amount ends at a full market, nothing can be sent elsewhere.
    """
    leaving = Counter(plan.sources)
    places = [place for place, source in enumerate(plan.sources) if leaving[source] > 1]
    for part in EASED:
        for place, factor in product(places, (1.0 - part, 1.0 + part)):
            weights = list(plan.weights)
            weights[place] = max(1, int(weights[place] * factor))
            divided = replace(plan, weights=tuple(weights), hops=())
            hops = divided.replay_or_none(amount)
            if hops:
                return divided, hops
    return None


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
