"""Exact-out in exact integers: the cheapest of what was bought, or what a sale does for less.

Floats may promise what integers hardly keep, and where much is open the search for an input may have lost what a sale
of about this input finds. There what was bought is sold, of many paths in the first case alone: another sale takes long
then, and of recorded pairs at ten and thirty times their size it found nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf, isnan

import numpy as np
import numpy.typing as npt

from routing_engine.model import Hop
from routing_engine.route import Route
from routing_engine.search.allocations.allocation import Allocation, Part
from routing_engine.search.bought_as_sold import ALMOST_NOTHING, Sell, buy_for_less
from routing_engine.search.paths.single import Single
from routing_engine.search.purchases.bought import Basket, Bought
from routing_engine.search.purchases.buying import DOUBTFUL, WIDE_OPEN, Purchase
from routing_engine.search.replays.purchase_replay import replay_purchase
from routing_engine.search.sales.selling import is_just
from routing_engine.search.splits.query import Query
from routing_engine.search.splits.split import FEW, OVERSIZED_IMPACT, Splitter
from routing_engine.search.splits.whole_units import LOST, keep_whole_units

NO_CHEAPER = 1e-7
"""Part of a cost by which an allocation must promise to be cheaper for it to be replayed."""

NEARLY_UNKNOWN = 0.1
"""Part of the input that must be open for less than was bought of many paths to be sold."""

Mask = npt.NDArray[np.bool_]
Attempt = tuple[Allocation | None, tuple[Hop, ...] | None]
"""An allocation, and its exact hops unless a market declines; hops that are a sale's without one."""


def buy_exactly(
    query: Query, splitter: Splitter, allowed: Mask, sell: Sell | None, single: Single | None = None
) -> Iterator[tuple[Attempt, int]]:
    """Yield what is cheapest in exact integers, or else an allocation without hops.

    With it comes of how many paths an allocation is that promises to be cheaper than the single path; 0 for none.

    Parameters
    ----------
    query : Query
        Exact-out.
    splitter : Splitter
        Of the query.
    allowed : bool array, shape (markets,)
        Markets that may be used.
    sell : callable, optional
        Sells over these markets, where what was bought may be sold for less.
    single : Single, optional
        What is to be better than.
    """
    purchase, gross = Purchase(query, splitter, allowed), float(single.route.amount_in_gross) if single else inf
    found = purchase.run(single)
    attempt = _replay_cheapest(query, splitter, found, single)
    bought = single.route if single else None
    if attempt and attempt[1]:
        bought = query.build_route(attempt[1])
    if bought and sell:
        is_vast = single is None or single.price_impact > OVERSIZED_IMPACT
        less = _sell_for_less(query, sell, bought, found, purchase.open, is_vast=is_vast)
        attempt = (None, less.hops) if less else attempt
    if attempt:
        yield attempt, found[0].allocation.count if found and found[0].cost * (1.0 + NO_CHEAPER) < gross else 0


def _sell_for_less(
    query: Query, sell: Sell, bought: Route, found: Sequence[Bought], part: float, *, is_vast: bool
) -> Route | None:
    """Return what a sale does for less where integers fall short of floats, or a part of the input is open.

    Where nothing is known, any input may be enough; also of an amount that is vast for its markets where the bound
    speaks of fewer hops than there may be, or where integers have cost less than the bound, which speaks of one rate.
    """
    amount, gross = float(bought.amount_in), float(bought.amount_in_gross)
    least, is_few = found[0].cost if found else 0.0, not found or found[0].allocation.count <= FEW
    is_shorter = bool(found) and found[0].allocation.max_hops < query.request.max_hops
    if isnan(part) or (is_vast and is_shorter) or gross < least * (1.0 - part - WIDE_OPEN):
        part = inf
    low = amount
    if gross > least * (1.0 + LOST):
        low = least - (gross - amount)
    if part > (WIDE_OPEN if is_few else NEARLY_UNKNOWN):
        low = min(low, amount * (1.0 - part))
    if low == amount and (part <= DOUBTFUL or not is_few):
        return None
    less = buy_for_less(query, sell, bought, max(ALMOST_NOTHING, low))
    if less and less.amount_in < amount * (1.0 - part):  # a bound was of other paths
        less = buy_for_less(query, sell, less, ALMOST_NOTHING) or less
    return less


def _replay_cheapest(
    query: Query, splitter: Splitter, found: Sequence[Bought], single: Single | None = None
) -> Attempt | None:
    """Return the cheapest allocation in exact integers, or else one without hops; None where there is none.

    Where hardly anything more is to be had, the last digits of an output decide what it costs, and floats may err. So
    an allocation is replayed if it might be cheaper than the cheapest so far. Those found are the cheapest in floats
    first.
    """
    cheapest, cost = _replay_cheaper(query, splitter, found, float(single.route.amount_in_gross) if single else inf)
    if found and cost > found[0].cost * (1.0 + LOST):
        others = _buy_whole_units(splitter, found[0], [single.get_part()] if single else [])
        cheaper, cost = _replay_cheaper(query, splitter, others, cost)
        cheapest = cheaper or cheapest
    if cheapest or not found:
        return cheapest
    just = [each.allocation for each in found if single and is_just(single, each.allocation)]
    return max(just, key=_get_least_input, default=found[0].allocation), None


def _replay_cheaper(
    query: Query, splitter: Splitter, found: Iterable[Bought], cost: float
) -> tuple[Attempt | None, float]:
    """Return what of this is cheapest in exact integers and below a cost, None if nothing is; and its cost."""
    cheapest: Attempt | None = None
    seen = set[frozenset[int]]()
    for bought in found:
        edges = frozenset(bought.flows.edges)
        if bought.cost * (1.0 + NO_CHEAPER) >= cost:
            break
        if edges in seen:
            continue
        seen.add(edges)
        for hops in replay_purchase(splitter, bought):
            gross = float(query.build_route(hops).amount_in_gross)
            if gross < cost:
                cheapest, cost = (bought.allocation, hops), gross
    return cheapest, cost


def _buy_whole_units(splitter: Splitter, bought: Bought, single: list[Part]) -> list[Bought]:
    """Return allocations of what was bought in which rounding counts, the cheapest first."""
    basket, allocation, amount = Basket(splitter), bought.allocation, bought.flows.amount
    starts = [allocation.list_parts(amount / allocation.amount), *([[single[0]]] if single else [])]
    for each in keep_whole_units(splitter.value_input_at(bought.flows.least_price), starts):
        basket.match(replace(each, least_input=allocation.least_input), amount)
    return basket.list_cheapest()


def _get_least_input(allocation: Allocation) -> float:
    """Return the greater one of the bounds of the input."""
    return max(allocation.least_input)
