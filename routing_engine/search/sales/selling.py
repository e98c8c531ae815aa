"""Allocations of an amount that is sold: from the best single path, or from several where none takes it all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.deadline import count_steps
from routing_engine.request import USUAL_HOPS
from routing_engine.search.allocations.allocation import Allocation, Part
from routing_engine.search.paths.single import Single
from routing_engine.search.sales.approach import approach_amount
from routing_engine.search.sales.climb import climb, grow_from_part
from routing_engine.search.sales.crowd import Crowd
from routing_engine.search.sales.full_paths import collect_full_paths
from routing_engine.search.sales.otherwise import begin_otherwise
from routing_engine.search.splits.few_paths import choose_few_paths
from routing_engine.search.splits.query import Query
from routing_engine.search.splits.renewal import renew
from routing_engine.search.splits.split import Splitter

PARTS, SMALLEST_PART = 4, 4**8
"""Where one path is not enough, one for a quarter is looked for, then for a quarter of that: down to this part."""

HOPELESS, HOPELESS_HOPS, HOPELESS_SPLITS = 0.9999, 3, 8
"""Part of the price, and of the value by reference prices, that a single path may lose. Where both are more, the amount
is so far beyond all that there is to buy that nearly all of it is lost. So less time is spent: it is divided over a few
short paths first. A path that begins with next to nothing at an absurd price loses the price alone."""

OPEN, GROWN_SPLITS, SMALLER = 5e-5, 16, 1e3
"""Relative gap of such a division, from which on it also grows from a part of the amount, and over how many paths: a
hundred give up to 3 % more of the little that is left, and take a hundred times as long. Where fewer are found it also
begins with an amount that its markets could take, as a multiple of what the best path takes where its price halves."""

SMALLER_STILL = 16.0
"""By what that amount is divided, twice at most, where its markets don't take it."""

PATIENCE = 4_000
"""Units of work after which nothing is begun anew any more."""

Mask = npt.NDArray[np.bool_]


def divide_single(query: Query, splitter: Splitter, single: Single, allowed: Mask) -> list[Allocation]:
    """Divide what a single path takes over several, and return the allocations, the best first.

    One may be just the single path.
    """
    if single.price_impact > HOPELESS and _compare_values(query, single) < 1.0 - HOPELESS:
        return [_divide_hopeless(query, splitter, single, allowed)]
    first, crowd = splitter.improve([single.get_part()]), Crowd(splitter, single.price_impact)
    if crowd.has_formed(first):
        return crowd.divide(first, [single.get_part()])
    allocation = splitter.allocate(*single.list_starts())
    longer = splitter.extend(allocation)
    if len(single.edges) > USUAL_HOPS and splitter.is_doubtful(allocation):
        longer = _begin_with_fewer_hops(query, single, longer, allowed)
    patient = splitter.limit_steps(count_steps(PATIENCE, query.graph.source.size))
    climbed = climb(patient, longer, single)
    renewed = renew(patient, climbed, single.price_impact)
    other = begin_otherwise(query, patient, renewed, allowed)
    widened = crowd.widen(other)
    # What rounding leaves of a full market may have no other way than over the paths that were found before.
    return [*{id(each): each for each in (widened, other, renewed, climbed, longer, allocation)}.values()]


def _compare_values(query: Query, single: Single) -> float:
    """Return which part of its input's value a path gives, by reference prices; 0 where one is not known."""
    start, end = (query.graph.units[query.graph.index[t]] for t in (query.request.token_in, query.request.token_out))
    given, taken = start * single.route.amount_out, end * single.route.amount_in
    return float(given / taken) if taken > 0.0 else 0.0


def is_just(single: Single, allocation: Allocation) -> bool:
    """Tell whether an allocation is to the single path alone."""
    return allocation.count == 1 and (*allocation.list_parts()[0][0],) == single.edges


def _begin_with_fewer_hops(query: Query, single: Single, found: Allocation, allowed: Mask) -> Allocation:
    """Return an allocation that began with usual hops, though the best single path has more, where it is better."""
    short = [path for path in single.list_paths() if len(path) <= USUAL_HOPS]
    if not short:
        return found
    splitter = query.create_splitter(allowed, len(short[0]))
    starts = [(short[0], single.route.amount_in)]
    other = splitter.extend(splitter.allocate(starts, single.price_impact, short))
    return other if other.net > found.net else found


def _divide_hopeless(query: Query, splitter: Splitter, single: Single, allowed: Mask) -> Allocation:
    """Return an allocation to a few short paths, or one to more that grew from a part of it where that is better.

    It has the single path's bound.
    """
    short = [(path, single.route.amount_in) for path in single.list_paths() if len(path) <= HOPELESS_HOPS]
    divided = [_divide_briefly(query, allowed, HOPELESS_SPLITS, short[:1])] if short else []
    judged = splitter.judge([single.get_part()], briefly=True)
    allocation = divided[0] if divided else judged
    bound, hops = min(judged.bound, allocation.flow_bound), query.request.max_hops
    few = query.shorten(hops, GROWN_SPLITS).create_splitter(allowed, len(single.edges))
    for divide, each in ((grow_from_part, few), (_divide_smaller, splitter)):
        if allocation.net * (1.0 + OPEN) >= bound or allocation.count >= GROWN_SPLITS or splitter.is_over:
            break
        other = divide(each, single)
        allocation = other if other.net > allocation.net else allocation
    return replace(allocation, bound=judged.bound, slope=judged.slope, max_hops=judged.max_hops, is_judged=True)


def _divide_briefly(query: Query, allowed: Mask, splits: int, starts: Sequence[Part]) -> Allocation:
    """Divide over a few short paths."""
    return query.shorten(HOPELESS_HOPS, splits).create_splitter(allowed, len(starts[0][0])).improve(starts)


def _divide_smaller(splitter: Splitter, single: Single) -> Allocation:
    """Divide a part of an amount over all paths, and go on from there with the whole; infeasible where that fails.

    Where not all of these paths take more, the single path, which takes the whole amount, is given what is left. What
    it shares with others may be full then, so it fails at most beside these.
    """
    (edges, amount), part = single.get_part(), min(1.0, SMALLER * (1.0 - single.price_impact))
    if part * amount < 1.0:  # next to an amount without end, all that is bought is no part of it
        return Allocation.from_parts([], 1, 1)
    smaller = splitter.grow([(edges, amount * part)], single.list_paths())
    for _ in range(2):
        if smaller.net > -inf or splitter.is_over:
            break
        part /= SMALLER_STILL
        smaller = splitter.grow([(edges, amount * part)], single.list_paths())
    if smaller.net == -inf:
        return smaller
    smaller, market_of = splitter.extend(smaller), splitter.graph.forward.edges["market"].item
    whole = splitter.improve(smaller.list_parts(1.0 / part), longer=True)
    others = [(path, taken) for path, taken in smaller.list_parts() if tuple(path) != single.edges]
    apart = [(path, taken) for path, taken in others if not {*map(market_of, path)} & {*map(market_of, edges)}]
    for kept in (others, apart):
        if whole.net > -inf:
            break
        kept = kept[: splitter.request.max_splits - 1]
        left = amount - sum([taken for _, taken in kept])
        whole = splitter.improve([*kept, (edges, left)], longer=True)
    return whole


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
        single = query.find_single(allowed, query.request.max_hops, part)
    return single


def sell(query: Query, allowed: Mask, amount: float, gas_rate: float | None = None) -> Allocation | None:
    """Allocate an input as if it were the one to be sold; None where markets don't take it.

    `gas_rate` is as of `Query.create_splitter`; the single path to begin with is found by reference prices.
    """
    selling = query.sell(amount)
    if selling is None:
        return None
    single = selling.find_single(allowed, query.request.max_hops)
    if single:
        return selling.create_splitter(allowed, len(single.edges), gas_rate).allocate(*single.list_starts())
    allocations = (allocation for _, allocation in allocate_beyond_paths(selling, allowed))
    return next((allocation for allocation in allocations if allocation.net > -inf), None)


def sell_briefly(query: Query, allowed: Mask, amount: float, hops: int) -> Allocation | None:
    """Allocate an input to short paths, which tells about what it gives; None where no path takes it."""
    selling = query.shorten(hops, query.request.max_splits).sell(amount)
    single = selling.find_single(allowed, selling.request.max_hops) if selling else None
    if selling is None or single is None:
        return None
    return selling.create_splitter(allowed, len(single.edges)).improve([single.get_part()], is_judged=False)


def sell_over_few(query: Query, allowed: Mask, amount: float, gas_rate: float | None = None) -> Allocation | None:
    """Allocate an input to the best few paths where no more may be used; None where no single path takes it."""
    selling = query.sell(amount)
    single = selling.find_single(allowed, query.request.max_hops) if selling else None
    if selling is None or single is None:
        return None
    splitter = selling.create_splitter(allowed, len(single.edges), gas_rate)
    found = splitter.improve([single.get_part()], longer=True, is_judged=False)
    return choose_few_paths(splitter, found, [single.get_part()])


def sell_as_asked(query: Query, allowed: Mask, amount: float) -> list[Allocation]:
    """Allocate an input just as if the request were to sell it; the best first, none where markets don't take it."""
    selling = query.sell(amount)
    if selling is None:
        return []
    single = selling.find_single(allowed, query.request.max_hops)
    if single is None:
        return [allocation for _, allocation in allocate_beyond_paths(selling, allowed)]
    splitter = selling.create_splitter(allowed, len(single.edges))
    return divide_single(selling, splitter, single, allowed)
