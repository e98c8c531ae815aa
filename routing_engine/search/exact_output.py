"""Exact-out splits: the input at which an allocation gives what is asked, in floats and then in exact integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from routing_engine.curves.kernels import edge_curve
from routing_engine.errors import QuoteRefused
from routing_engine.graph.graph import Graph
from routing_engine.jit.direct_call import Compiled
from routing_engine.model import Hop
from routing_engine.search.flow_replay import FlowPlan

_compute_amounts_out = Compiled(edge_curve.compute_amounts_out)

MATCHES, MATCH = 12, 1e-12
"""Iterations by which the input is found in floats, and the change that ends them; two or three do.

They give proportions only: integers give the amounts.
"""

SLOW = 0.25
"""Where an iteration leaves more than this part of what was missing, the marginal price is measured, not believed.

No more can be had at the marginal price of a path over a full market.
"""

LEAST_STEP = 0.5
"""Part of an input below which a straight line is not followed."""

MAX_UNITS_LEFT_OUT = 8
"""Units of input that are tried to be left out at last."""

NEAR = 1e-12
"""How far from the input so found the exact one is looked for first, where it cannot be computed backwards."""


class Flows(NamedTuple):
    """An allocation of some amount by edges: these in an order in which they can run, and what each takes.

    `value` is the output, `price` its growth by one more unit of input.
    """

    edges: list[int]
    flows: list[float]
    amount: float
    value: float
    price: float


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
    """
    amount_before, value_before = 0.0, 0.0
    found = allocated(amount)
    for _ in range(MATCHES):
        value, price = found.value, found.price
        if not found.edges or price <= 0.0:
            return None
        if amount_before and abs(value - wanted) > SLOW * abs(value_before - wanted):
            price = (value - value_before) / (amount - amount_before) or price
        amount_before, value_before = amount, value
        amount = _invert(amount, value, price, wanted)
        if not amount > 0.0:
            return None
        if abs(amount - amount_before) < MATCH * amount:
            break
        found = allocated(amount)
    return found._replace(amount=amount)


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

    def run(plan: FlowPlan, amount_in: int) -> tuple[Hop, ...] | None:
        hops = plan.replay_or_none(amount_in)
        return hops if hops and plan.add_up_output(hops) >= wanted else None

    backwards = _run_backwards(graph, plan, wanted)
    hops = backwards and find_least(partial(run, backwards), backwards.amount_in, 1)
    hops = hops or find_least(partial(run, plan), int(matched.amount), max(1, int(matched.amount * NEAR)))
    for _ in range(MAX_UNITS_LEFT_OUT if hops else 0):
        # Its own parts may round otherwise than those that led to it.
        own = replace(plan, weights=tuple([hop.amount_in for hop in hops or ()]), hops=hops or ())
        fewer = run(own, own.amount_in - 1)
        if fewer is None:
            break
        hops = fewer
    return hops


def _run_backwards(graph: Graph, plan: FlowPlan, wanted: int) -> FlowPlan | None:
    """Return the plan with the least inputs that give what is asked; None where a market is full or declines."""
    rows, flows = graph.forward.edges[list(plan.edges)], np.array(plan.weights, np.float64)
    outputs = _compute_amounts_out(rows, graph.pieces, np.minimum(flows, rows["x_max"]))
    if not outputs.min() > 0.0:  # or NaN
        return None
    try:
        return plan.plan_backwards([max(1, int(each)) for each in outputs.tolist()], wanted)
    except QuoteRefused:
        return None


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
