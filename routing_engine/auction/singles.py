"""One order on the auction's liquidity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from routing_engine.auction.fill_search import find_fill
from routing_engine.auction.gas import TRADE_GAS, GasTerms
from routing_engine.auction.model import AuctionOrder, Fulfillment, OrderKind
from routing_engine.auction.pools import Pools
from routing_engine.auction.prices import PriceVector
from routing_engine.auction.settlement import execute, keeps_limit
from routing_engine.model import Hop, Token
from routing_engine.route import Route

FEE_ROUNDS = 4
"""So often a fee is raised at most because a smaller amount takes another route."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Trades of one pair, before protocol fees.

    Parameters
    ----------
    trades : tuple of Fulfillment
        At `prices`.
    prices : mapping of Token to int
        Of the two tokens.
    hops : tuple of Hop
        In the order in which they run.
    """

    trades: tuple[Fulfillment, ...]
    prices: Mapping[Token, int]
    hops: tuple[Hop, ...]


def fill_order(
    pools: Pools, order: AuctionOrder, terms: GasTerms, vector: PriceVector, amount: int | None = None
) -> Draft | None:
    """Fill an order by pools alone; None where its limit, or its gas, allows no surplus.

    Parameters
    ----------
    pools : Pools
        The liquidity, in the state in which it is then.
    order : AuctionOrder
        What is asked for.
    terms : GasTerms
        Gas and prices.
    vector : PriceVector
        Prices that the solution has already.
    amount : int, optional
        How much of the fixed amount to fill, fee included; by default all of it, or of an order that may be filled in
        part what gains most.
    """
    routes: dict[int, Route | None] = {}
    amount = amount or _choose_amount(pools, order, routes)
    if amount is None:
        return None
    found = (_sell if order.kind is OrderKind.SELL else _buy)(pools, order, terms, amount, routes.get(amount))
    if found is None:
        return None
    trade, route = found
    sold = trade.executed if order.kind is OrderKind.SELL else route.amount_in
    bought = route.amount_out if order.kind is OrderKind.SELL else trade.executed
    prices = vector.fit(order.sell, order.buy, Fraction(bought, sold))
    if prices is None or not keeps_limit(order, execute(trade, prices)):
        return None
    return Draft((trade,), prices, route.hops)


def _choose_amount(pools: Pools, order: AuctionOrder, routes: dict[int, Route | None]) -> int | None:
    """Return how much to fill; `routes` gets what was asked on the way."""
    is_sale = order.kind is OrderKind.SELL
    ask = pools.sell if is_sale else pools.buy

    def gain(amount: int) -> int | None:
        if amount not in routes:
            routes[amount] = ask(order.sell, order.buy, amount)
        route = routes[amount]
        if route is None:
            return None
        bought = route.amount_out if is_sale else amount
        return order.sell_amount * bought - order.buy_amount * route.amount_in

    if order.partially_fillable:
        return find_fill(gain, order.target)
    return order.target if (gain(order.target) or 0) > 0 else None


def _sell(
    pools: Pools, order: AuctionOrder, terms: GasTerms, amount: int, route: Route | None
) -> tuple[Fulfillment, Route] | None:
    """Sell an amount less the fee, which pays for the route of what is left."""
    route = route or pools.sell(order.sell, order.buy, amount)
    fee = 0
    for _ in range(FEE_ROUNDS):
        if route is None:
            break
        needed = terms.charge(order.sell, route.gas + TRADE_GAS + terms.shared_gas) if order.pays_gas else 0
        if needed is None or needed >= amount:
            break
        if needed <= fee:
            return Fulfillment(order=order, executed=amount - fee, fee=fee), route
        fee = needed
        route = pools.sell(order.sell, order.buy, amount - fee)
    return None


def _buy(
    pools: Pools, order: AuctionOrder, terms: GasTerms, amount: int, route: Route | None
) -> tuple[Fulfillment, Route] | None:
    """Buy an amount; the fee comes on top of what it costs."""
    route = route or pools.buy(order.sell, order.buy, amount)
    if route is None:
        return None
    fee = terms.charge(order.sell, route.gas + TRADE_GAS + terms.shared_gas) if order.pays_gas else 0
    return None if fee is None else (Fulfillment(order=order, executed=amount, fee=fee), route)
