"""Allocations of an amount that is sold: from the best single path, or from several where none takes it all."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.search.allocation import Allocation
from routing_engine.search.approach import approach_amount
from routing_engine.search.full_paths import collect_full_paths
from routing_engine.search.query import Query, Single
from routing_engine.search.split import Splitter

PARTS, SMALLEST_PART = 4, 4**8
"""Where one path is not enough, one for a quarter is looked for, then for a quarter of that: down to this part."""

MAX_AMOUNT = 2.0**256
"""More than any token's units."""

Mask = npt.NDArray[np.bool_]


def allocate_beyond_paths(query: Query, allowed: Mask) -> Iterator[tuple[Splitter, Allocation]]:
    """Yield allocations of an amount that no single path takes, each with its splitter, the most promising first."""
    parts = collect_full_paths(query, allowed)
    if parts:
        splitter = query.create_splitter(allowed, max(len(edges) for edges, _ in parts))
        # Where markets are full they take no more: the parts leave room, and may serve as they are.
        for find in (splitter.judge if query.request.max_splits == 1 else splitter.allocate, splitter.judge):
            yield splitter, find(parts)
    single = find_part(query, allowed)
    if single:
        splitter = query.create_splitter(allowed, len(single.edges))
        yield splitter, approach_amount(splitter, [single.get_part()], single.list_paths())


def find_part(query: Query, allowed: Mask) -> Single | None:
    """Return the best single path of a part of the amount, as large a part as one takes; None where none does."""
    amount = query.request.amount
    part, single = amount, None
    while single is None and part * SMALLEST_PART >= amount and not query.budget.is_spent():
        part //= PARTS
        single = query.find_single(allowed, query.request.max_hops, part) if part else None
    return single


def sell(query: Query, allowed: Mask, amount: float) -> Allocation | None:
    """Allocate an input as if it were the one to be sold; None where markets don't take it."""
    if not 1.0 <= amount < MAX_AMOUNT:
        return None
    selling = query.sell(int(amount))
    single = selling.find_single(allowed, query.request.max_hops)
    if single:
        return selling.create_splitter(allowed, len(single.edges)).allocate(*single.list_starts())
    allocations = (allocation for _, allocation in allocate_beyond_paths(selling, allowed))
    return next((allocation for allocation in allocations if allocation.net > -inf), None)
