"""Exact-out splits in exact integers: the least input with which an allocation gives what is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from routing_engine.curves.kernels import edge_curve
from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.graph.graph import Graph
from routing_engine.jit.direct_call import Compiled
from routing_engine.model import Hop
from routing_engine.search.allocations.exact_output import Flows
from routing_engine.search.replays.flow_replay import FlowPlan
from routing_engine.search.replays.room import EASED, replay_with_room

_compute_amounts_out = Compiled(edge_curve.compute_amounts_out)

HALVINGS = 20
"""How often half of what an allocation might give is ruled out."""

MAX_REPEATS = 4
"""How often the least input is looked for again in the proportions that the one before led to."""

NEAR = 1e-12
"""How far from the input so found the exact one is looked for first, where it cannot be computed backwards."""

ROUNDED, MORE = 1e-5, (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Part of the input that whole units may add backwards, where a coarse token needs a unit more for next to nothing. If
they add more, it is looked for forwards too, with room in full markets for these parts more of the input."""


def spend_least(graph: Graph, matched: Flows, wanted: int) -> tuple[Hop, ...] | None:
    """Replay an allocation in exact integers with the least input that gives what is asked.

    One unit less of it, in the same proportions, would not do. None where markets decline.
    """
    plan = FlowPlan.of(graph, matched.edges, matched.flows)
    if not plan.edges:
        return None

    outputs = _compute_outputs(graph, plan)
    hops = _run_backwards(plan, outputs, wanted) if outputs else None
    for more in MORE:
        if hops and add_up_input(hops) <= matched.amount * (1.0 + ROUNDED):
            break
        with suppress(QuoteRefused):
            plan, _ = replay_with_room(plan, int(matched.amount * (1.0 + more)))
            found = _run_forwards(plan, matched.amount, wanted)
            hops = min(filter(None, (hops, found)), key=add_up_input, default=None)
    for _ in range(MAX_REPEATS if hops else 0):
        # Its own parts may round otherwise than those that led to it.
        own = replace(plan, weights=tuple([hop.amount_in for hop in hops or ()]), hops=hops or ())
        less = own.amount_in - 1
        if _run(own, wanted, less) is None:
            break
        trimmed = _trim_inputs(own)
        hops = _run(trimmed, wanted, trimmed.amount_in) if trimmed.amount_in <= less else None
        hops = hops or find_least(partial(_run, own, wanted), less, 1)
    return hops


def _trim_inputs(plan: FlowPlan) -> FlowPlan:
    """Return a plan with the least inputs of its first markets that give what its hops give."""
    weights = list(plan.weights)
    for place, (hop, source) in enumerate(zip(plan.hops, plan.sources, strict=True)):
        if hop and source == plan.sources[0]:
            with suppress(QuoteRefused):
                least, _ = plan.ends[place][0].swap_exact_out(hop.token_in, hop.token_out, hop.amount_out)
                weights[place] = min(weights[place], least.amount_in)
    return replace(plan, weights=tuple(weights))


def add_up_input(hops: Sequence[Hop]) -> int:
    """Return what hops take of the token that the first one takes."""
    return sum([hop.amount_in for hop in hops if hop.token_in == hops[0].token_in])


def _compute_outputs(graph: Graph, plan: FlowPlan) -> list[int]:
    """Return what each edge of a plan gives, in whole units and at least one; nothing where one gives nothing."""
    rows, flows = graph.forward.edges[list(plan.edges)], np.array(plan.weights, np.float64)
    outputs = _compute_amounts_out(rows, graph.pieces, np.minimum(flows, rows["x_max"]))
    return [max(1, int(each)) for each in outputs.tolist()] if outputs.min() > 0.0 else []  # or NaN


def sell_whole_units(graph: Graph, allocated: Flows, amount: int) -> tuple[Hop, ...] | None:
    """Replay an allocation of an amount so that no edge is given a part of what one more unit of its output takes.

    Proportions waste such parts, which are much where units are few. So the most is looked for whose least input is no
    more than the amount. None where markets decline.
    """
    plan = FlowPlan.of(graph, allocated.edges, allocated.flows)
    outputs = _compute_outputs(graph, plan) if plan.edges else []
    most = int(allocated.value)
    least, best = most // 2, None
    for _ in range(HALVINGS if outputs else 0):
        wanted = (least + most + 1) // 2
        if wanted <= least:
            break
        with suppress(QuoteRefused):
            backwards = plan.plan_backwards(outputs, wanted)
            hops = backwards.replay_or_none(amount) if backwards.amount_in <= amount else None
            if hops and plan.add_up_output(hops) >= wanted:
                best, least = hops, plan.add_up_output(hops)
                continue
        most = wanted - 1
    return best


def find_declining_market(graph: Graph, matched: Flows, wanted: int) -> str | None:
    """Return the id of the market that declines an allocation's exact amounts first, or its part of the output."""
    plan = FlowPlan.of(graph, matched.edges, matched.flows)
    try:
        plan.replay(int(matched.amount))
        outputs = _compute_outputs(graph, plan)
        if outputs:
            plan.plan_backwards(outputs, wanted)
    except QuoteRefused as refusal:
        return refusal.market_id
    return None


def _run(plan: FlowPlan, wanted: int, amount_in: int) -> tuple[Hop, ...] | None:
    """Return the hops of a plan for an input; None where they give too little, or a market declines."""
    hops = plan.replay_or_none(amount_in)
    return hops if hops and plan.add_up_output(hops) >= wanted else None


def _run_forwards(plan: FlowPlan, amount: float, wanted: int) -> tuple[Hop, ...] | None:
    """Return the hops for the least input near an amount that gives what is asked; None where there is none."""
    return find_least(partial(_run, plan, wanted), int(amount), max(1, int(amount * NEAR)))


def _run_backwards(plan: FlowPlan, outputs: Sequence[int], wanted: int) -> tuple[Hop, ...] | None:
    """Return hops with the least inputs for what is asked, in proportions of outputs; None where markets decline.

    Where a market is full before it gives its part, a little less is asked of it.
    """
    tries = Counter[str]()
    while True:
        try:
            backwards = plan.plan_backwards(outputs, wanted)
            return find_least(partial(_run, backwards, wanted), backwards.amount_in, 1)
        except QuoteRefused as refusal:
            market = refusal.market_id
            if refusal.reason == Refusal.AMOUNT_TOO_LOW or tries[market] == len(EASED):
                return None
            eased = _ask_less(plan, outputs, market, EASED[tries[market]])
        if eased is None:
            return _run_filled(plan, wanted)
        tries[market] += 1
        outputs = eased


def _run_filled(plan: FlowPlan, wanted: int) -> tuple[Hop, ...] | None:
    """Return hops with the least inputs where full markets have to give all that they have, to the unit."""
    filled = plan.fill()
    with suppress(QuoteRefused):
        outputs = [
            market.swap_exact_in(token_in, token_out, part)[0].amount_out
            for (market, token_in, token_out), part in zip(filled.ends, filled.weights, strict=True)
        ]
        backwards = filled.plan_backwards([max(1, each) for each in outputs], wanted, spare=0)
        return _run(backwards, wanted, backwards.amount_in)
    return None


def _ask_less(plan: FlowPlan, outputs: Sequence[int], market_id: str, part: float) -> list[int] | None:
    """Return outputs by which a part less is needed where a market arrives; None where no other edge can give it.

    Where all that arrives at a token comes from such a place, less is needed there too.
    """
    full = next(place for place, (market, _, _) in enumerate(plan.ends) if market.id == market_id)
    end, arriving = plan.targets[-1], Counter(plan.targets)
    short, less = {plan.targets[full]}, list(outputs)
    for place, (source, target) in enumerate(zip(plan.sources, plan.targets, strict=True)):
        if source not in short:
            continue
        less[place] -= max(1, int(less[place] * part))
        arriving[target] -= 1
        if not arriving[target]:
            short.add(target)
    if end in short or min(less) < 1:
        return None
    return less


def find_least(run: Callable[[int], tuple[Hop, ...] | None], guess: int, step: int) -> tuple[Hop, ...] | None:
    """Return what `run` gives for the least amount at which it gives anything, searching around a close guess.

    Parameters
    ----------
    step : int
        How far from the guess to look first.
    """
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
