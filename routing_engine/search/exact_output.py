"""Exact-out splits: the input at which an allocation gives what is asked, in floats and then in exact integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from routing_engine.curves.kernels import edge_curve
from routing_engine.errors import QuoteRefused
from routing_engine.graph.graph import Graph
from routing_engine.jit.direct_call import Compiled
from routing_engine.model import Hop
from routing_engine.search.flow_replay import FlowPlan

_compute_amounts_out = Compiled(edge_curve.compute_amounts_out)

MATCHES, MATCH = 40, 1e-12
"""Iterations by which the input is found in floats, and the change that ends them; two or three do.

They give proportions only: integers give the amounts.
"""

NEAR_MATCH = 1e-8
"""Relative difference of an output from what is asked that is taken for a match."""

SLOW = 0.25
"""Where an iteration leaves more than this part of what was missing, the marginal price is measured, not believed.

No more can be had at the marginal price of a path over a full market.
"""

STRIDE = 4.0
"""How many times an input the next one is where nothing better is known."""

LEAST_STEP = 0.5
"""Part of an input below which a straight line is not followed."""

MAX_REPEATS = 4
"""How often the least input is looked for again in the proportions that the one before led to."""

NEAR = 1e-12
"""How far from the input so found the exact one is looked for first, where it cannot be computed backwards."""


class Flows(NamedTuple):
    """An allocation of some amount by edges: these in an order in which they can run, and what each takes.

    `value` is the output, `price` its growth by one more unit of input in these proportions. `least_price` is that of
    the path of which a unit more gives least; those over full markets have more, and can't be given any.
    """

    edges: list[int]
    flows: list[float]
    amount: float
    value: float
    price: float
    least_price: float


def find_matching_input(allocated: Callable[[float], Flows], amount: float, wanted: float) -> Flows | None:
    """Find the input for which an allocation gives what is asked, beginning with any; None where it fails on the way.

    Parameters
    ----------
    allocated : callable
        Allocates an amount.
    wanted : float
        The output asked for.

    Returns
    -------
    Flows or None
        Those of the last amount that was allocated; `amount` is nearer by less than the change that ends iterations.
        Where flows jump between two inputs, those of the larger one.
    """
    search = _Bracket(wanted)
    found = allocated(amount)
    for _ in range(MATCHES):
        if not found.edges or found.price <= 0.0:
            if search.more is None:
                return None
            search.too_little, following = amount, search.find_middle(amount)
        else:
            following = search.step_on(found)
        if not 0.0 < following < inf:
            return None
        if abs(following - amount) < MATCH * following:
            is_match = found.edges and abs(found.value - wanted) < NEAR_MATCH * wanted
            return found._replace(amount=following) if is_match else search.more
        amount = following
        found = allocated(amount)
    return search.more


class _Bracket:
    """Inputs between which the one lies that gives what is wanted.

    Newton's method leaves them where flows jump or markets are full; then halfway goes on.
    """

    def __init__(self, wanted: float) -> None:
        self._wanted = wanted
        self.too_little = 0.0
        self.more: Flows | None = None
        """Of the least input so far that gives as much as is wanted, or more."""
        self._before: Flows | None = None

    def step_on(self, found: Flows) -> float:
        """Return the next input to try."""
        amount, value, before = found.amount, found.value, self._before
        # Of the last digits the paths that still take more decide; from far away that would lead astray.
        price = found.least_price if abs(value - self._wanted) <= NEAR_MATCH * self._wanted else found.price
        if before and abs(value - self._wanted) > SLOW * abs(before.value - self._wanted):
            price = (value - before.value) / (amount - before.amount) or price
        if value < self._wanted:
            self.too_little = max(self.too_little, amount)
        elif self.more is None or amount < self.more.amount:
            self.more = found
        self._before = found
        # At the flat end of curves a little more of the input gives nothing: there is no line to follow.
        has_line = price > 0.0 and value > 0.0
        return self.find_middle(_invert(amount, value, price, self._wanted) if has_line else amount)

    def find_middle(self, amount: float) -> float:
        """Return an input if it lies between those known, else one that does."""
        low, high = self.too_little, self.more.amount if self.more else inf
        if low < amount < high or not (low or high < inf):
            return amount
        if high < inf:
            return sqrt(low * high) if low else high / STRIDE
        return low * STRIDE


def _invert(amount: float, value: float, price: float, wanted: float) -> float:
    """Return for what input `wanted` is given where `value` is given for `amount` at marginal `price`.

    By a straight line, as in Newton's method. From an input far too large, where prices are low, that would lead below
    zero; there, by the constant-product pool of this value and price.
    """
    straight = amount + (wanted - value) / price
    share = min(1.0, price * amount / value)
    rest = value - (1.0 - share) * wanted
    return straight if straight > LEAST_STEP * amount or rest <= 0.0 else amount * share * wanted / rest


def spend_least(graph: Graph, matched: Flows, wanted: int) -> tuple[Hop, ...] | None:
    """Replay an allocation in exact integers with the least input that gives what is asked.

    One unit less of it, in the same proportions, would not do. None where markets decline.
    """
    plan = FlowPlan.of(graph, matched.edges, matched.flows)
    if not plan.edges:
        return None

    outputs = _compute_outputs(graph, plan)
    hops = _run_backwards(plan, outputs, wanted) if outputs else None
    hops = hops or _run_forwards(plan, matched.amount, wanted)
    if hops is None:
        with suppress(QuoteRefused):
            plan, _ = plan.replay_with_room(int(matched.amount))
            hops = _run_forwards(plan, matched.amount, wanted)
    for _ in range(MAX_REPEATS if hops else 0):
        # Its own parts may round otherwise than those that led to it.
        own = replace(plan, weights=tuple([hop.amount_in for hop in hops or ()]), hops=hops or ())
        less = own.amount_in - 1
        if _run(own, wanted, less) is None:
            break
        trimmed = own.trim_inputs(hops or ())
        hops = _run(trimmed, wanted, trimmed.amount_in) if trimmed.amount_in <= less else None
        hops = hops or find_least(partial(_run, own, wanted), less, 1)
    return hops


def _compute_outputs(graph: Graph, plan: FlowPlan) -> list[int]:
    """Return what each edge of a plan gives, in whole units and at least one; nothing where one gives nothing."""
    rows, flows = graph.forward.edges[list(plan.edges)], np.array(plan.weights, np.float64)
    outputs = _compute_amounts_out(rows, graph.pieces, np.minimum(flows, rows["x_max"]))
    return [max(1, int(each)) for each in outputs.tolist()] if outputs.min() > 0.0 else []  # or NaN


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
    """Return hops with the least inputs for what is asked, in proportions of outputs; None where markets decline."""
    try:
        backwards = plan.plan_backwards(outputs, wanted)
    except QuoteRefused:
        return None
    return find_least(partial(_run, backwards, wanted), backwards.amount_in, 1)


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
