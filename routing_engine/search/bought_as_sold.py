"""Exact-out as exact-in would sell: an input that gives the amount when it is sold, and less of it.

Floats may promise what integers decline, or find a saturated end short of what integers give there; and what is best
for one input may be lost on the way from another. So where no allocation gives the amount, larger and larger inputs are
sold in exact integers; and what was bought is sold where it may cost too much. The route of each sale tells which input
just gives what is asked: of what is enough as much is left out as can be, and what falls short takes more.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isclose, sqrt

from routing_engine.deadline import count_steps
from routing_engine.route import Route
from routing_engine.search.allocations.exact_output import Flows
from routing_engine.search.replays.least_input import spend_least
from routing_engine.search.sales.selling import PATIENCE, find_part
from routing_engine.search.splits.query import Mask, Query

LARGER, INPUTS = 4.0, 32
"""How many times the input before the next one is, and how many are sold at most: of nearly empty markets the last
units cost thousands of times what the others do.
"""

HOPELESS, VAIN = 4.0, 3
"""How many times the last growth of the output may be missing, as each is less than the one before where markets are
nearly empty; and how often in a row it may be more. Each time the next input is farther away, by the square: the last
units come in leaps, and cost as much as all others a thousand times over.
"""

LOOKS, ALIKE, LITTLE = 24, 1e-6, 1e-3
"""How often a smaller input is sold at most, the part by which the least and the most of them differ at least, and the
part that a sale must have saved for the same to be tried again: few units may be saved one by one.
"""

MISSED, MISSED_SOON, SOON = 2, 8, 40
"""How often in a row the sale of a smaller input may tell of nothing cheaper, or of an input that one before told; and
how often within so many units of work, as where units are few what is enough comes and goes."""

UNTIL_FOUND = 4 * PATIENCE
"""Units of work after which no larger input is sold where none was enough. A single sale far beyond the depth of many
kinds of markets takes more than the usual patience, and after one nobody can say that there is no route.
"""

ALMOST_NOTHING = 0.5
"""An input that is never enough, of which the square root with two units is one."""

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
    low, enough = _sell_enough(query, allowed, sell, _find_last(query, UNTIL_FOUND))
    return _sell_less(query, sell, low, enough, _find_last(query)) if enough else None


def buy_for_less(query: Query, sell: Sell, bought: Route, least: float) -> Route | None:
    """Return a route that is what a sale does of less than was bought for; None where none is found.

    Parameters
    ----------
    bought : Route
        What gives what is asked.
    least : float
        The least input that may be enough; one that is no less than what was bought for where only what that gives is
        looked at.
    """
    less = _sell_less(query, sell, least, bought, _find_last(query))
    return None if less is bought else less


def _sell_less(query: Query, sell: Sell, low: float, bought: Route, last: int) -> Route:
    """Sell what was bought for, as long as that saves any of it or of gas; then less, by halving down to `low`."""
    is_again, missed, alike, soon, told = True, 0, 0, _find_last(query, SOON), list[float]()
    for _ in range(LOOKS):
        most = MISSED if _is_over(query, soon) else MISSED_SOON
        amount = float(bought.amount_in)
        is_near = low >= min(amount * (1.0 - ALIKE), amount - 1.0)
        if missed > most or alike >= MISSED or _is_over(query, last) or (is_near and not is_again):
            break
        middle = amount if is_again else sqrt(low * amount)
        sold = _sell(query, sell, middle)
        fitting = _fit(query, sold) if sold else None
        gross = float(fitting.amount_in_gross) if fitting else inf
        if sold and sold.amount_out < query.request.amount and not is_again:
            low = middle
        if fitting and gross < float(bought.amount_in_gross) * (1.0 - ALIKE):
            bought, missed, alike = fitting, 0, 0
            is_again = fitting.amount_in < (sqrt(low * amount) if low < amount else amount * (1.0 - LITTLE))
        elif is_again:
            is_again = False
        else:
            low, missed = middle, missed + 1
            alike = alike + 1 if any(isclose(gross, each, rel_tol=ALIKE) for each in told) else 0
        told += [gross] if fitting else []
    return bought


def _find_last(query: Query, patience: int = PATIENCE) -> int:
    """Return the steps of work that are left when no other input is sold any more, after so many units."""
    return query.budget.steps_left - count_steps(patience, query.graph.source.size)


def _sell_enough(query: Query, allowed: Mask, sell: Sell, last: int) -> tuple[float, Route | None]:
    """Return the largest input that is not enough, and what gives what is asked; None where no input does."""
    part = find_part(query, allowed)
    wanted, given, low, larger, vain = query.request.amount, 0, ALMOST_NOTHING, LARGER, 0
    amount = wanted / part.route.amount_out * part.route.amount_in if part else 0.0
    for _ in range(INPUTS if part else 0):
        if _is_over(query, last):
            break
        sold = _sell(query, sell, amount)
        fitting = _fit(query, sold) if sold else None
        if sold and fitting and fitting.amount_in <= LARGER * amount:
            return (low if sold.amount_out >= wanted else amount), fitting
        if sold is None:  # more than markets take
            larger = sqrt(larger)
            amount /= larger
            continue
        is_vain = wanted - sold.amount_out > HOPELESS * (sold.amount_out - given)
        vain, larger = (vain + 1, larger**2) if is_vain else (0, larger)
        given, low, amount = sold.amount_out, amount, larger * amount
        if vain > VAIN:
            break
    return low, None


def _is_over(query: Query, last: int) -> bool:
    """Whether the request's time or work is over, or so much of it is done that `last` is all that is left."""
    return query.budget.is_spent() or query.budget.steps_left < last


def _sell(query: Query, sell: Sell, amount: float) -> Route | None:
    selling = query.weigh_money().sell(amount)
    return sell(selling) if selling else None


def _fit(query: Query, sold: Route) -> Route | None:
    """Return what a sale does, with the least input that gives what is asked, be it more; None where none does."""
    edges, flows = [*map(query.find_edge, sold.hops)], [float(hop.amount_in) for hop in sold.hops]
    matched = Flows(edges, flows, float(sold.amount_in), float(sold.amount_out), price=0.0, least_price=0.0)
    hops = spend_least(query.graph, matched, query.request.amount)
    return query.build_route(hops) if hops else None
