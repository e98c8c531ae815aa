"""Exact-out where an allocation has as many paths as may be used: other paths, and other inputs to choose them for.

What is best for an input that is too large may be paths that are of no use for the least one. So other paths are chosen
at the input that is needed, as for exact-in, and as long as that saves anything. Where much stays open, inputs between
this one and a part of it are sold too.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from routing_engine.search.allocations.allocation import Part
from routing_engine.search.purchases.bought import Basket, Bought, measure_gap
from routing_engine.search.sales.selling import sell_over_few
from routing_engine.search.splits.few_paths import choose_few_paths
from routing_engine.search.splits.query import Query

LOOKS, SAVED = 4, 1e-5
"""How often other paths are looked for at most, and the part of the cost that these must have saved for others."""

WIDE_OPEN, HALVINGS, SMALLEST = 5e-3, 4, 0.25
"""Part of the input that must be open for smaller ones to be sold, how many, and the smallest as a part of it."""

DOUBLINGS, VAIN = 12, 2
"""How often an input is doubled at most that is not enough, and how often in a row that may bring no more."""

Mask = npt.NDArray[np.bool_]


def buy_over_few(query: Query, allowed: Mask, basket: Basket, hops: int) -> None:
    """Put into a basket what costs less than the cheapest in it, if that has as many paths as may be used.

    Parameters
    ----------
    query : Query
        Exact-out.
    allowed : bool array, shape (markets,)
        Markets that may be used.
    basket : Basket
        Of the request, with something in it.
    hops : int
        Of the paths that are looked for first.
    """
    bought, gap = _choose_others(query, allowed, basket, hops)
    if gap > WIDE_OPEN and _sell_less(query, allowed, basket, bought) is not bought:
        _choose_others(query, allowed, basket, hops)


def _choose_others(query: Query, allowed: Mask, basket: Basket, hops: int) -> tuple[Bought, float]:
    """Choose other paths as long as that saves anything; return the cheapest, and which part of its input is open."""
    bought, gap = basket.list_cheapest()[0], 0.0
    for _ in range(LOOKS):
        if bought.allocation.count < query.request.max_splits or query.budget.is_spent():
            break
        before, amount = bought, bought.flows.amount
        splitter = query.create_splitter(allowed, hops, bought.flows.least_price)
        found = splitter.improve(bought.allocation.list_parts(), longer=True)
        selling = query.sell(amount)
        single = selling.find_single(allowed, query.request.max_hops) if selling else None
        alone: list[list[Part]] = [[(single.edges, amount)]] if single else []
        few = choose_few_paths(splitter, found, found.list_parts(), *alone)
        bought = basket.choose(bought, [found, few], amount)
        gap = measure_gap(found)
        if before.cost - bought.cost < SAVED * bought.cost:
            break
    return bought, gap


def sell_more(query: Query, allowed: Mask, basket: Basket, amount: float) -> Bought | None:
    """Sell larger and larger inputs over few paths until one gives what is asked; None if none does.

    Few paths may give most for an input that is no large one, so it ends only where two in a row give no more.
    """
    most, vain = 0.0, 0
    for _ in range(DOUBLINGS):
        few = None if query.budget.is_spent() else sell_over_few(query, allowed, amount)
        if few is None:
            break
        bought = basket.match(few, amount)
        if bought:
            return bought
        vain = vain + 1 if few.net <= most * (1.0 + SAVED) else 0
        if vain == VAIN:
            break
        most, amount = max(most, few.net), 2.0 * amount
    return None


def _sell_less(query: Query, allowed: Mask, basket: Basket, bought: Bought) -> Bought:
    """Sell inputs between a part of the one that is needed and itself, by halving; return the cheapest that is enough.

    What is open there is not looked for.
    """
    low = SMALLEST * bought.flows.amount
    for _ in range(HALVINGS):
        if query.budget.is_spent():
            break
        before, middle = bought, sqrt(low * bought.flows.amount)
        few = sell_over_few(query, allowed, middle, bought.flows.least_price)
        bought = basket.choose(bought, [few] if few else [], middle)
        if bought is before:
            low = middle
    return bought
