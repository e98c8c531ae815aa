"""Purchases that are what a sale does: larger and larger inputs are sold until one is enough."""

from __future__ import annotations

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.deadline import count_steps
from routing_engine.route import Route
from routing_engine.search.bought_as_sold import buy_as_sold
from routing_engine.search.certified_split import split_single
from routing_engine.search.sales.selling import PATIENCE
from routing_engine.search.single_paths import find_best_single
from routing_engine.search.splits.query import Query
from tests.support.markets import market_of, token

UNIT = 10**18


def test_a_sale_that_takes_all_patience_is_not_the_last_one_where_it_is_not_enough() -> None:
    """Once a purchase of 295 million dollars was said to be impossible, and one of 298 millions was found."""
    router = Router(Snapshot(market_of("\n".join(f"ab{number}: A B 1000 1000 30bps" for number in range(4)))))
    wanted = 2_000 * UNIT
    query = router._start_query(
        RouteRequest(token_in=token("A"), token_out=token("B"), amount=wanted, side="exact_out", max_hops=1)
    )
    sales: list[int] = []

    def sell(selling: Query) -> Route:
        selling.budget.spend(count_steps(PATIENCE + 1, selling.graph.source.size))
        single = find_best_single(selling, selling.allowed, 1)
        assert single
        sales.append(selling.request.amount)
        if len(sales) == 1:
            return single.route  # one pool holds no such amount, so this tells of no input that is enough
        return split_single(selling, single, selling.allowed).routes[0]

    bought = buy_as_sold(query, query.allowed, sell)
    assert bought is not None
    assert bought.amount_out >= wanted
    assert len(sales) > 1
    assert sales[1] > sales[0]
