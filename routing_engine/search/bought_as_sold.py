"""Exact-out where no allocation in floats gives the amount: an input that gives it when it is sold, and less of it.

Floats may promise what integers decline, or find a saturated end short of what integers give there. So larger and
larger inputs are sold in exact integers, as exact-in would, until one is enough. Of that as much is left out as can be.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from routing_engine.deadline import count_steps
from routing_engine.model import Hop
from routing_engine.route import Route
from routing_engine.search.allocations.exact_output import Flows
from routing_engine.search.replays.least_input import add_up_input, spend_least
from routing_engine.search.sales.selling import find_part
from routing_engine.search.splits.query import Mask, Query

LARGER, INPUTS = 4.0, 32
"""How many times the input before the next one is, and how many are sold at most: of nearly empty markets the last
units cost thousands of times what the others do.
"""

HOPELESS, VAIN = 4.0, 3
"""How many times the last growth of the output may be missing, as each is less than the one before where markets are
nearly empty; and how often in a row it may be more, as the last units come in leaps.
"""

LOOKS, ALIKE = 24, 1e-6
"""How often a smaller input is sold at most, and the part by which the least and the most of them differ at least."""

PATIENCE = 4_000
"""Units of work after which no other input is sold."""

Sell = Callable[[Query], Route | None]
"""Answers an exact-in query by its best route."""


def buy_as_sold(query: Query, allowed: Mask, sell: Sell) -> Route | None:
    """Return an exact-out route that is what a sale does, with as little input as gives what is asked; None if none is.

    Parameters
    ----------
    query : Query
        Exact-out.
    allowed : bool array, shape (markets,)
        Markets that may be used.
    sell : callable
        Sells over these markets.
    """
    last = query.budget.work.item(0) - count_steps(PATIENCE, query.graph.source.size)
    low, hops = _sell_enough(query, allowed, sell, last)
    amount, is_again = _add_up(hops), True
    for _ in range(LOOKS if hops else 0):
        if _is_over(query, last) or low >= amount * (1.0 - ALIKE):
            break
        middle = amount if is_again else sqrt(low * amount)
        sold = _sell(query, sell, middle)
        less = _lower(query, sold) if sold else ()
        if less and _add_up(less) < amount * (1.0 - ALIKE):
            hops, amount, is_again = less, _add_up(less), True
        elif is_again:
            is_again = False
        else:
            low = middle
    return query.build_route(hops) if hops else None


def _sell_enough(query: Query, allowed: Mask, sell: Sell, last: int) -> tuple[float, tuple[Hop, ...]]:
    """Return the largest input that is not enough, and the hops of one that is, lowered; none where no input is."""
    part = find_part(query, allowed)
    wanted, given, low, larger, vain = query.request.amount, 0, 1.0, LARGER, 0
    amount = wanted / part.route.amount_out * part.route.amount_in if part else 0.0
    for _ in range(INPUTS if part else 0):
        if _is_over(query, last):
            break
        sold = _sell(query, sell, amount)
        if sold and (hops := _lower(query, sold)):
            return low, hops
        if sold is None:  # more than markets take
            larger = sqrt(larger)
            amount /= larger
            continue
        is_vain = wanted - sold.amount_out > HOPELESS * (sold.amount_out - given)
        given, low, amount, vain = sold.amount_out, amount, larger * amount, vain + 1 if is_vain else 0
        if vain == VAIN:
            break
    return low, ()


def _is_over(query: Query, last: int) -> bool:
    """Whether the request's time or work is over, or so much of it is done that `last` is all that is left."""
    return query.budget.is_spent() or query.budget.work.item(0) < last


def _add_up(hops: tuple[Hop, ...]) -> float:
    return float(add_up_input(hops)) if hops else 0.0


def _sell(query: Query, sell: Sell, amount: float) -> Route | None:
    selling = query.weigh_money().sell(amount)
    return sell(selling) if selling else None


def _lower(query: Query, sold: Route) -> tuple[Hop, ...]:
    """Return what a sale does with the least input that gives what is asked; nothing where it does not give that."""
    if sold.amount_out < query.request.amount:
        return ()
    edges, flows = [*map(query.find_edge, sold.hops)], [float(hop.amount_in) for hop in sold.hops]
    matched = Flows(edges, flows, float(sold.amount_in), float(sold.amount_out), price=0.0, least_price=0.0)
    return spend_least(query.graph, matched, query.request.amount) or ()
