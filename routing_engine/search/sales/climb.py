"""An amount that is large for its markets, approached from a small part of it.

Where an amount moves prices far, the paths that are added first use markets in directions, and tokens in an order, that
keep better paths out. Those that serve a small amount best serve a larger one too, and what is worth less is added to
them as the amount grows.
"""

from __future__ import annotations

from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.search.allocations.allocation import Allocation, choose_better
from routing_engine.search.splits.query import Query
from routing_engine.search.splits.split import Splitter

STRETCHED, OPEN = 0.5, 5e-3
"""Price impact of the best single path, and relative gap to the bound, from which on an amount is approached so."""

PART = 2.0**-8
"""The part to begin with, of what the price impact leaves of the price: it hardly moves prices."""

STEP, SETTLED = 2.0, 1e-2
"""How many times the amount before the next one is; a step that gains less of the output is followed by the last."""


def climb(
    query: Query, splitter: Splitter, found: Allocation, allowed: npt.NDArray[np.bool_], price_impact: float
) -> Allocation:
    """Return an allocation that was approached from a small part of the amount, where so much is open and it is better.

    `price_impact` is that of the best single path.
    """
    if price_impact <= STRETCHED or not found.is_open(OPEN) or splitter.is_over:
        return found
    found = splitter.look_closer(found)
    if not found.is_open(OPEN):
        return found
    amount = float(query.request.amount)
    single = query.find_single(allowed, query.request.max_hops, int(amount * PART * (1.0 - price_impact)))
    if single is None:
        return found
    here = splitter.improve([single.get_part()], longer=True, is_judged=False)
    scale = STEP
    while -inf < here.net and here.amount < amount and not splitter.is_over:
        scale = min(scale, amount / here.amount)
        there = splitter.improve(here.list_parts(scale), longer=True, is_judged=False)
        scale = STEP if there.net > here.net * (1.0 + SETTLED) else inf
        here = there
    is_better = here.amount >= amount and here.max_hops == found.max_hops and here.net > found.net
    return choose_better(found, here) if is_better else found
