"""Solves a batch auction: each order alone, orders of a pair together, and what goes together in one settlement."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction

from routing_engine.auction.gas import GasTerms, find_terms
from routing_engine.auction.matching import choose_orders, vary_fills
from routing_engine.auction.model import Auction, AuctionOrder, OrderKind, Solution
from routing_engine.auction.pairs import PairSearch
from routing_engine.auction.pools import OutOfTime, Pools
from routing_engine.auction.prices import PriceVector
from routing_engine.auction.settlement import PRICE_UNIT
from routing_engine.auction.sides import OrderFill
from routing_engine.auction.singles import Draft, fill_order
from routing_engine.auction.solutions import Direction, build_solution, score_directions
from routing_engine.deadline import Clock
from routing_engine.values import seal

RESERVE_S = 0.5
"""Kept of the time until the deadline, for the way back."""

LONGEST_S = 20.0
ALONE_PART = 0.7
"""Of the time, orders alone get so much where it is short; the rest is for batches."""

Pair = frozenset[object]


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """The answer to an auction.

    Parameters
    ----------
    solutions : tuple of Solution
        The highest score first.
    is_complete : bool
        Whether the search ended by itself, and not with its time.
    """

    solutions: tuple[Solution, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a settlement on one pair, found on the liquidity as it was given."""

    fills: tuple[OrderFill, ...]
    rate: Fraction
    solution: Solution


def solve_auction(
    auction: Auction,
    *,
    chain_id: int = 1,
    now: datetime | None = None,
    clock: Clock = time.monotonic,
    longest_s: float = LONGEST_S,
) -> Solved:
    """Solve an auction on its own liquidity, within its deadline.

    Parameters
    ----------
    auction : Auction
        As `read_auction` gives it.
    chain_id : int
        Whose it is.
    now : datetime, optional
        What time it is; by default the system's.
    clock : Clock
        What time passes by.
    longest_s : float
        The most to take, however far the deadline is.
    """
    until = (auction.deadline - (now or datetime.now(UTC))).total_seconds() - RESERVE_S
    return solve_anytime(auction, chain_id=chain_id, clock=clock, longest_s=min(until, longest_s))


def solve_anytime(
    auction: Auction, *, chain_id: int = 1, clock: Clock = time.monotonic, longest_s: float = LONGEST_S
) -> Solved:
    """Solve an auction whatever its deadline is, for one that was recorded; see `solve_auction`."""
    begun, limit_s = clock(), longest_s
    if limit_s <= 0 or not auction.orders:
        return Solved(solutions=(), is_complete=not auction.orders)
    pools = Pools.of(auction.markets, chain_id, auction.gas_price, lambda: begun + limit_s - clock(), clock)
    search = _Search(pools, begun + limit_s * ALONE_PART, clock)
    try:
        search.run(auction, chain_id)
    except OutOfTime:
        search.is_complete = False
    ranked = sorted(search.found, key=lambda solution: -solution.score)
    return Solved(solutions=tuple(ranked), is_complete=search.is_complete)


@dataclass(slots=True)
class _Search:
    """What has been found so far."""

    pools: Pools
    alone_until: float
    clock: Clock
    found: list[Solution] = field(default_factory=list)
    pieces: list[_Piece] = field(default_factory=list)
    best: dict[Direction, int] = field(default_factory=dict)
    is_complete: bool = True

    def run(self, auction: Auction, chain_id: int) -> None:
        """Look for solutions, those that are sure to be of use first."""
        terms = find_terms(auction, self.pools, chain_id)
        self._solve_alone(rank_orders(auction.orders, terms), terms)
        self._solve_pairs(auction.orders, terms)
        self._combine(terms)

    def _solve_alone(self, orders: Iterable[AuctionOrder], terms: GasTerms) -> None:
        for order in orders:
            if self.clock() >= self.alone_until:
                self.is_complete = False
                return
            draft = fill_order(self.pools, order, terms, PriceVector())
            solution = build_solution([draft], terms) if draft else None
            if draft and solution:
                self._keep([OrderFill(order, _find_amount(draft))], _find_rate(draft), solution)

    def _keep(self, fills: Sequence[OrderFill], rate: Fraction, solution: Solution) -> None:
        """Remember a solution of one pair, and what it gives each direction."""
        self.found.append(solution)
        self.pieces.append(_Piece(tuple(fills), rate, solution))
        scores = score_directions(solution)
        if len(scores) == 1:
            [(direction, score)] = scores.items()
            self.best[direction] = max(score, self.best.get(direction, 0))

    def _solve_pairs(self, orders: Sequence[AuctionOrder], terms: GasTerms) -> None:
        """Clear the orders of each pair together, where this gives more than the best of each direction alone."""
        alone = {piece.fills[0].order.uid: piece.fills[0].amount for piece in self.pieces}
        pairs: dict[Pair, list[AuctionOrder]] = defaultdict(list)
        for order in orders:
            pairs[frozenset((order.sell, order.buy))].append(order)
        for members in pairs.values():
            first, second = members[0].sell, members[0].buy
            rate = self._guess_rate(members, terms)
            chosen = choose_orders(members, alone, first, rate) if rate else []
            if rate is None or len(chosen) < 2:
                continue
            search, found = PairSearch(self.pools, terms, PriceVector(), first, second), []
            for fills in vary_fills(chosen, alone, first, rate):
                draft = search.clear(fills, rate)
                solution = build_solution([draft], terms) if draft else None
                if draft and solution and self._is_fair(solution) and self._gains(solution):
                    kept = {trade.order.uid for trade in draft.trades}
                    found.append((solution, [fill for fill in fills if fill.order.uid in kept], draft))
            if found:
                solution, fills, draft = max(found, key=lambda entry: entry[0].score)
                self._keep(fills, Fraction(draft.prices[first], draft.prices[second]), solution)

    def _guess_rate(self, members: Sequence[AuctionOrder], terms: GasTerms) -> Fraction | None:
        """Return about the price of a pair, by reference prices."""
        first, second = members[0].sell, members[0].buy
        known = [terms.reference.get(token) for token in (first, second)]
        return Fraction(known[0], known[1]) if known[0] and known[1] else None

    def _is_fair(self, solution: Solution) -> bool:
        """Tell whether no direction gets less than alone: the protocol drops batches that are unfair to one."""
        return all(score >= self.best.get(direction, 0) for direction, score in score_directions(solution).items())

    def _gains(self, solution: Solution) -> bool:
        return solution.score > sum(self.best.get(direction, 0) for direction in score_directions(solution))

    def _combine(self, terms: GasTerms) -> None:
        """Put pieces of different pairs into one settlement, each on what the ones before it left."""
        pools, vector = self.pools, PriceVector()
        drafts: list[Draft] = []
        taken: set[Pair] = set()
        for piece in sorted(self.pieces, key=lambda piece: -piece.solution.score):
            order = piece.fills[0].order
            pair = frozenset((order.sell, order.buy))
            if pair in taken:
                continue
            shared = replace(terms, shared_gas=0) if drafts else terms
            draft = self._solve_again(piece, pools, shared, vector)
            if draft is None or not (solution := build_solution([draft], shared)) or not self._is_fair(solution):
                continue
            taken.add(pair)
            drafts.append(draft)
            pools, vector = pools.after(draft.hops), vector.extend(draft.prices)
        combined = build_solution(drafts, terms) if len(drafts) > 1 else None
        if combined:
            self.found.append(combined)

    def _solve_again(self, piece: _Piece, pools: Pools, terms: GasTerms, vector: PriceVector) -> Draft | None:
        """Return a piece's trades on other liquidity, with other prices around."""
        fill = piece.fills[0]
        if len(piece.fills) == 1:
            return fill_order(pools, fill.order, terms, vector, fill.amount)
        search = PairSearch(pools, terms, vector, fill.order.sell, fill.order.buy)
        first = piece.solution.prices[fill.order.sell], piece.solution.prices[fill.order.buy]
        return search.clear(piece.fills, Fraction(*first))


def rank_orders(orders: Sequence[AuctionOrder], terms: GasTerms) -> list[AuctionOrder]:
    """Return the orders by what they would gain at reference prices, most first: time may end before all are asked."""

    def gain(order: AuctionOrder) -> int:
        sold, bought = terms.reference.get(order.sell), terms.reference.get(order.buy)
        known = sold is not None and bought is not None
        return (order.sell_amount * sold - order.buy_amount * bought) // PRICE_UNIT if known else 0  # type: ignore[operator]

    return sorted(orders, key=lambda order: (-gain(order), order.uid))


def _find_amount(draft: Draft) -> int:
    """Return how much of the fixed amount of a single order a draft fills."""
    trade = draft.trades[0]
    return trade.executed + (trade.fee if trade.order.kind is OrderKind.SELL else 0)


def _find_rate(draft: Draft) -> Fraction:
    order = draft.trades[0].order
    return Fraction(draft.prices[order.sell], draft.prices[order.buy])
