"""Answers that are no worse than those to the same request with less to choose from.

A search is a heuristic: what it finds over many hops and paths first may keep out what a search over fewer finds. Where
its certificate leaves much open, the same is asked with fewer hops and paths, and the best answer counts. What a
narrower search has proven to be the best of its kind, searches that are narrower still can't beat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from routing_engine.certificate import IMPRECISE, Certificate
from routing_engine.deadline import count_steps
from routing_engine.fixed_point import BPS
from routing_engine.request import MAX_SPLITS
from routing_engine.route import Route, Side
from routing_engine.search.certified_split import CertifiedRoutes, split_beyond_paths, split_single
from routing_engine.search.fastest import find_fastest
from routing_engine.search.paths.single import Single
from routing_engine.search.sales.selling import HOPELESS
from routing_engine.search.single_paths import find_best_single
from routing_engine.search.splits.query import Query

OPEN, WIDE_OPEN, WIDE_OPEN_OF_LIMITED = 1.0, 50.0, 20.0
"""Gaps, in bps, from which on less is asked for: of an answer that took little work, of any, and of one
over fewer paths than a request may ask for."""

LITTLE, PATIENCE = 50, 300
"""Units of work that are little, and after which nothing more is asked."""

SMALL, FEW = 1_000, 4
"""Edges of a market, or paths of a request, up to which that is done. Of 522 orders over a hundred paths on a market of
16,600 edges it made none better, and all took twice the work."""

FEWER = (40, 12, 6, 4, 3, 2, 1)
"""Numbers of paths that are asked for in place of more."""

FAR, LEAST_HOPS, SOON = 200.0, 3, 1_000
"""Gap of a sale, in bps, from which on fewer hops are asked for on any market, how many at least, and the units of work
that the answer took at most: amounts beyond all depth over few paths, for which a search ends far apart from one hop to
the next. Over many paths it takes long, and gave nothing on the sandbox market."""


def answer_single(query: Query, single: Single) -> CertifiedRoutes:
    """Return the answer to a request of which a single path takes the amount."""
    left = query.budget.steps_left
    is_timed = query.request.objective.time_first
    answer = (is_timed and find_fastest(query, single)) or split_single(query, single, query.allowed)
    return _compare_with_less(query, answer, left - query.budget.steps_left)


def answer_beyond_paths(query: Query) -> CertifiedRoutes | None:
    """Return the answer to a request of which no single path takes the amount; None where none is found."""
    left = query.budget.steps_left
    is_timed = query.request.objective.time_first
    answer = find_fastest(query, None) if is_timed else split_beyond_paths(query, query.allowed)
    if answer is None and not is_timed:  # a path that loses on the way what its last markets would not take
        answer = _ask(query.shorten(query.request.max_hops, 1))
    return _compare_with_less(query, answer, left - query.budget.steps_left) if answer else None


def _compare_with_less(query: Query, answer: CertifiedRoutes, spent: int) -> CertifiedRoutes:
    """Return an answer that took so many steps of work, or a better one to the same with fewer hops or paths."""
    request, size, proven = query.request, query.graph.source.size, list[tuple[int, int]]()
    is_known = request.certify and not request.objective.weighs_time
    if not is_known or request.max_splits == 1:
        return answer
    if size > SMALL and request.max_splits > FEW:
        return _compare_with_fewer_hops(query, answer) if spent <= count_steps(SOON, size) else answer
    last, is_little = query.budget.steps_left - count_steps(PATIENCE, size), spent <= count_steps(LITTLE, size)
    wide = WIDE_OPEN if request.max_splits == MAX_SPLITS else WIDE_OPEN_OF_LIMITED
    open_from = OPEN if is_little else wide
    for hops, splits in _list_narrower(query):
        if not _is_open(answer, open_from) or query.budget.is_spent() or query.budget.steps_left < last:
            break
        if any(hops <= most_hops and splits <= most_splits for most_hops, most_splits in proven):
            continue
        other = _ask(query.shorten(hops, splits))
        if other is None or _is_proven(other, answer):
            proven.append((hops, splits))
        if other:
            answer = _choose(query, answer, other)
    return answer


def _compare_with_fewer_hops(query: Query, answer: CertifiedRoutes) -> CertifiedRoutes:
    """Return an answer, or a better one over fewer hops where the answer to a sale is far from its bound."""
    if answer.routes[0].side is Side.EXACT_OUT or answer.routes[0].price_impact > HOPELESS:
        return answer
    for hops in range(query.request.max_hops - 1, LEAST_HOPS - 1, -1):
        gap = answer.certificates[0].gap_bps
        if query.budget.is_spent() or gap is None or gap <= FAR:
            break
        other = _ask(query.shorten(hops, query.request.max_splits))
        answer = _choose(query, answer, other) if other else answer
    return answer


def _list_narrower(query: Query) -> Iterator[tuple[int, int]]:
    """Yield the request's hops with fewer paths, most first, and its paths over fewer hops, the fewest first, in turns.

    What takes least time comes before all is spent.
    """
    request = query.request
    fewer_hops = [(hops, request.max_splits) for hops in range(1, request.max_hops)]
    fewer_paths = [(request.max_hops, splits) for splits in FEWER if splits < request.max_splits]
    for pair in zip_longest(fewer_hops, fewer_paths):
        yield from filter(None, pair)


def _ask(query: Query) -> CertifiedRoutes | None:
    """Return the answer to a request by its own search."""
    single = find_best_single(query, query.allowed, query.request.max_hops)
    if single:
        return split_single(query, single, query.allowed)
    return split_beyond_paths(query, query.allowed) if query.request.max_splits > 1 else None


def _is_open(answer: CertifiedRoutes, open_from: float) -> bool:
    """Whether so much is open that a search over less may find something better.

    Of what is bought it often is not known; that was sold already as far as that helps.
    """
    gap = answer.certificates[0].gap_bps
    if gap is None:
        return answer.routes[0].side is Side.EXACT_IN
    return gap > open_from


def _is_proven(other: CertifiedRoutes, answer: CertifiedRoutes) -> bool:
    """Whether no request that is narrower than another one's has a better answer than the best that is known."""
    gap = other.certificates[0].gap_bps
    if gap is None:
        return False
    return (1.0 - gap / BPS) * _compare(answer.routes[0], other.routes[0]) >= 1.0 - IMPRECISE


def _compare(one: Route, other: Route) -> float:
    """Return how many times as good a route is as another one, by net amounts."""
    if one.side is Side.EXACT_OUT:
        return float(other.amount_in_gross) / float(one.amount_in_gross)
    return float(one.amount_out_net) / float(other.amount_out_net) if other.amount_out_net else 0.0


def _choose(query: Query, answer: CertifiedRoutes, other: CertifiedRoutes) -> CertifiedRoutes:
    """Return the better one of two answers, judged by what is known of the request's."""
    best, route = other.routes[0], answer.routes[0]
    if query.rank_key(best) >= query.rank_key(route):
        return answer
    times = _compare(best, route)
    known = _raise(answer.certificates[0], times) if times > 0.0 else None
    return CertifiedRoutes([best, *answer.routes[1:]], [known or query.certify(best, query.allowed)])


def _raise(certificate: Certificate, times: float) -> Certificate | None:
    """Return what a certificate says of an answer that is so many times as good; None where it says nothing of it."""
    if certificate.gap_bps is None or (1.0 - certificate.gap_bps / BPS) * times > 1.0 + IMPRECISE:
        return None
    gap, of_flows = (_close(each, times) for each in (certificate.gap_bps, certificate.all_flows_gap_bps))
    return replace(certificate, gap_bps=gap, all_flows_gap_bps=of_flows)


def _close(gap_bps: float | None, times: float) -> float | None:
    return None if gap_bps is None else max(0.0, BPS * (1.0 - (1.0 - gap_bps / BPS) * times))
