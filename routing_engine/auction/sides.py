"""Orders of one pair and what they move at a price: those that sell its first token, and those that sell its second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from routing_engine.auction.gas import TRADE_GAS, GasTerms
from routing_engine.auction.model import AuctionOrder, Fulfillment, OrderKind
from routing_engine.auction.settlement import execute, keeps_limit
from routing_engine.fixed_point import div_up
from routing_engine.model import Token


@dataclass(frozen=True, slots=True)
class OrderFill:
    """An order, and how much of its fixed amount takes part; the fee of a sell order is a part of it."""

    order: AuctionOrder
    amount: int


@dataclass(frozen=True, slots=True)
class PairFlows:
    """What a pair's trades bring and take at given prices.

    Parameters
    ----------
    trades : tuple of Fulfillment
        In the order of the fills.
    spare : mapping of Token to int
        What the settlement has of each token beyond what its trades take and gas costs; negative where it lacks.
    """

    trades: tuple[Fulfillment, ...]
    spare: Mapping[Token, int]

    def violator(self, prices: Mapping[Token, int]) -> int | None:
        """Return the place of the trade that misses its limit by the largest part; None where all keep it."""
        missed = []
        for place, trade in enumerate(self.trades):
            order, moved = trade.order, execute(trade, prices)
            if min(trade.executed, moved.bought, moved.sold - trade.fee) <= 0:
                return place
            if not keeps_limit(order, moved):
                ratio = (order.sell_amount * moved.bought) * 10**9 // (order.buy_amount * moved.sold)
                missed.append((ratio, place))
        return min(missed)[1] if missed else None


def move(fills: Sequence[OrderFill], prices: Mapping[Token, int], terms: GasTerms, swap_gas: int) -> PairFlows | None:
    """Return what fills bring and take; None where gas costs a side more than it has, or has no price.

    Gas is shared by the number of trades, and within a side by their size: so all orders of one direction get the same
    price after fees as well, as the protocol asks for (uniform directed prices).
    """
    gas = TRADE_GAS + div_up(terms.shared_gas + swap_gas, len(fills))
    rates, spare = {}, dict.fromkeys(prices, 0)
    for token in prices:
        side = [fill for fill in fills if fill.order.sell == token]
        charged = terms.charge(token, gas * len(side)) if side else 0
        gross = sum(_find_gross(fill, prices) for fill in side)
        if charged is None or (side and gross <= charged + len(fills)):
            return None
        rates[token] = charged + len(fills), gross  # a unit for each trade, which rounding may take
        spare[token] -= charged
    trades = [_charge(fill, prices, *rates[fill.order.sell]) for fill in fills]
    for trade in trades:
        moved = execute(trade, prices)
        spare[trade.order.sell] += moved.sold
        spare[trade.order.buy] -= moved.bought
    return PairFlows(tuple(trades), spare)


def _find_gross(fill: OrderFill, prices: Mapping[Token, int]) -> int:
    """Return how much of its sell token a fill brings at least."""
    order = fill.order
    return fill.amount if order.kind is OrderKind.SELL else fill.amount * prices[order.buy] // prices[order.sell]


def _charge(fill: OrderFill, prices: Mapping[Token, int], cost: int, gross: int) -> Fulfillment:
    """Return a fill's trade, its share of its side's cost as the fee."""
    if fill.order.kind is OrderKind.SELL:
        fee = div_up(fill.amount * cost, gross)
        return Fulfillment(order=fill.order, executed=fill.amount - fee, fee=fee)
    fee = div_up(_find_gross(fill, prices) * cost, gross - cost)
    return Fulfillment(order=fill.order, executed=fill.amount, fee=fee)
