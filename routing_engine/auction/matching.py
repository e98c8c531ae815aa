"""Which orders of a pair are tried together, and with what amounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from routing_engine.auction.model import AuctionOrder, OrderKind
from routing_engine.auction.settlement import limit_price
from routing_engine.auction.sides import OrderFill
from routing_engine.model import Token

NEARLY = Fraction(103, 100)
"""Orders whose limits miss the reference price by more than 3 % are left to themselves."""

MOST_ORDERS = 24


def choose_orders(orders: Sequence[AuctionOrder], first: Token, rate: Fraction) -> list[AuctionOrder]:
    """Return the orders of a pair that may clear together at about a price, the most generous first."""
    reached = []
    for order in orders:
        limit = limit_price(order)
        margin = rate / limit if order.sell == first else 1 / (rate * limit)
        if order.pays_gas and margin * NEARLY >= 1:
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
