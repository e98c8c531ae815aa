"""Which orders of a pair are tried together, and with what amounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from routing_engine.auction.model import AuctionOrder, OrderKind
from routing_engine.auction.settlement import limit_price
from routing_engine.auction.sides import OrderFill
from routing_engine.model import Token

MOST_ORDERS = 24


def choose_orders(
    orders: Sequence[AuctionOrder], alone: Mapping[str, int], first: Token, rate: Fraction
) -> list[AuctionOrder]:
    """Return the orders of a pair that may clear together, the most generous first.

    Those are the ones that pools fill alone, and the ones whose limits leave a price that an opposite order accepts.
    What neither pools nor an opposite order serve is not served by both together.

    Parameters
    ----------
    orders : sequence of AuctionOrder
        Of one pair.
    alone : mapping of str to int
        By uid, how much is filled of an order alone.
    first : Token
        One of the pair.
    rate : Fraction
        About the price: units of the other token for one of it.
    """
    paying = [order for order in orders if order.pays_gas]
    asks = {order.uid: limit_price(order) for order in paying if order.sell == first}
    bids = {order.uid: 1 / limit_price(order) for order in paying if order.sell != first}
    lowest, highest = min(asks.values(), default=None), max(bids.values(), default=None)
    reached = []
    for order in paying:
        if order.uid in asks:
            meets, margin = highest is not None and asks[order.uid] <= highest, rate / asks[order.uid]
        else:
            meets, margin = lowest is not None and bids[order.uid] >= lowest, bids[order.uid] / rate
        if meets or order.uid in alone:
            reached.append((margin, order))
    reached.sort(key=lambda entry: (-entry[0], entry[1].uid))
    return [order for _, order in reached[:MOST_ORDERS]]


def vary_fills(
    orders: Sequence[AuctionOrder], alone: Mapping[str, int], first: Token, rate: Fraction
) -> Iterator[list[OrderFill]]:
    """Yield the amounts to try: all of each, what each takes alone, and what opposite ones have for each other.

    Parameters
    ----------
    orders : sequence of AuctionOrder
        Of one pair, the most generous first.
    alone : mapping of str to int
        By uid, how much is filled of an order alone; those that fill nothing are missing.
    first : Token
        One of the pair.
    rate : Fraction
        Units of the other token for one of it.
    """
    whole = [OrderFill(order, order.target) for order in orders]
    solved = [OrderFill(order, alone[order.uid]) for order in orders if order.uid in alone]
    tried: list[list[OrderFill]] = []
    for fills in (whole, solved, _trim(whole, first, rate)):
        if len(fills) > 1 and fills not in tried:
            tried.append(fills)
            yield fills


def _trim(fills: Sequence[OrderFill], first: Token, rate: Fraction) -> list[OrderFill]:
    """Take from the heavier side's partially fillable orders, the least generous first, until both sides are even."""
    sizes = [_find_size(fill, first, rate) for fill in fills]
    signed = (size if fill.order.sell == first else -size for fill, size in zip(fills, sizes, strict=True))
    excess = sum(signed, Fraction(0))
    left: list[OrderFill] = []
    for fill, size in reversed(list(zip(fills, sizes, strict=True))):
        heavier = (excess > 0) == (fill.order.sell == first)
        cut = min(abs(excess), size) if heavier and fill.order.partially_fillable else Fraction(0)
        excess -= cut if excess > 0 else -cut
        amount = fill.amount - int(fill.amount * cut / size)
        if amount > 0 and cut < size:
            left.append(OrderFill(fill.order, amount))
    return left[::-1]


def _find_size(fill: OrderFill, first: Token, rate: Fraction) -> Fraction:
    """Return a fill's size in units of the first token."""
    is_first = (fill.order.sell == first) == (fill.order.kind is OrderKind.SELL)
    return Fraction(fill.amount) if is_first else fill.amount / rate
