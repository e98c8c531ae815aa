"""What a customer pays for an order in the token of their choice: quotes that are held for a minute."""

from __future__ import annotations

from typing import Any

from api.domain.errors import InvalidData, NotFound, Problem
from api.domain.ids import IdPrefix, make_id
from api.domain.orders import OrderStatus
from api.services.checkout.expected_times import expect_payment_s
from api.services.checkout.payable_tokens import PayableChain, PayableToken, find_settlement_token
from api.services.checkout.prices import find_price
from api.services.checkout.quote import OrderQuote
from api.services.checkout.refusals import OrderQuoteRefusal, OrderQuoteRefused
from api.services.orders.chain_reads import list_unread
from api.services.orders.payability import NotPayable
from api.services.orders.views import PublicOrder, load_public_order
from api.services.resources import Resources
from api.services.routing.serializers import VALID_FOR
from api.services.settlement.crediting.quote_payers import forget_unused_quotes
from api.storage.tables import StoredQuote
from routing_engine import Token
from routing_engine.reference.chains import CHAINS

__all__ = [
    "OrderQuote",
    "OrderQuoteRefusal",
    "OrderQuoteRefused",
    "PayableChain",
    "PayableToken",
    "get_order_quote",
    "quote_order",
]


def quote_order(resources: Resources, order_id: str, chain_id: int, token_address: str) -> OrderQuote:
    """Quote what is due on an order in one token, store the quote for a minute and return it.

    The settlement token itself is transferred without any route; anything else is routed so that exactly what is due
    arrives, and the input has the tolerance for slippage on top.

    Parameters
    ----------
    chain_id, token_address : int and str
        The token that the customer pays with; the address in any case.

    Raises
    ------
    NotFound
        If there is no such order.
    InvalidData
        If the chain is not supported, or the token unknown on it.
    OrderQuoteRefused
        If the order can't be paid, is not waiting for a payment, nobody reads the chain just now, or no route leads to
        its settlement token.
    """
    order = load_public_order(resources, order_id)
    settled, due = require_due(resources, order)
    token = _find_payment_token(resources, chain_id, token_address)
    require_read(resources, order, chain_id)
    access = resources.chain_access.get(order.env_mode)
    details = find_price(resources, access, token, settled, due)
    fill_time_s = expect_payment_s(resources, order, token.chain_id, details.get("steps", ()))
    quote = _make_quote(resources, order_id, token, settled, due, {**details, "fill_time_s": fill_time_s})
    with resources.database.write() as session:
        forget_unused_quotes(session, quote.created_at, order_id)
        session.add(
            StoredQuote(
                id=quote.quote_id,
                vendor_id=order.vendor_id,
                order_id=order_id,
                body=quote.to_body(),
                created_at=quote.created_at,
                expires_at=quote.expires_at,
            )
        )
    return quote


def get_order_quote(resources: Resources, order_id: str, quote_id: str) -> OrderQuote:
    """Return a quote that was given for this very order and still holds.

    Raises
    ------
    NotFound
        If there is none with this id for this order.
    OrderQuoteRefused
        If it has expired.
    """
    with resources.database.read() as session:
        row = session.get(StoredQuote, quote_id)
    if row is None or row.order_id != order_id:
        raise NotFound("There is no such quote for this payment order")
    if resources.clock.now() >= row.expires_at:
        raise OrderQuoteRefused(OrderQuoteRefusal.EXPIRED, "The quote has expired; ask for a new one")
    return OrderQuote.from_body(row.body)


def require_due(resources: Resources, order: PublicOrder) -> tuple[Token, int]:
    """Return the token that settles an order, and how much of it is still missing.

    Raises
    ------
    OrderQuoteRefused
        If the order can't be paid, or is not waiting for a payment.
    """
    settled = find_settlement_token(order)
    if order.not_payable_reason == NotPayable.OUT_OF_TIME:
        raise OrderQuoteRefused(OrderQuoteRefusal.NOT_WAITING, "The order takes no payment now: its time is over")
    if not order.payable or settled is None:
        message = "The order can't be paid: the merchant has no settlement account that is connected to a chain"
        if order.is_paused:
            message = "The order can't be paid now: nobody has read its chain for minutes; try again later"
        elif order.not_payable_reason == NotPayable.GOES_BACK:
            message = "The order can't be paid any more: all that came for it goes back"
        raise OrderQuoteRefused(
            OrderQuoteRefusal.NOT_PAYABLE, message, Problem(path="order", message=order.not_payable_reason)
        )
    is_waiting = order.status == OrderStatus.CREATED and resources.clock.now() < order.expires_at
    is_short = order.status == OrderStatus.PROCESSING  # what is on its way over a bridge may be a stranger's
    if not (is_waiting or is_short) or not order.amount_due:
        status = OrderStatus.EXPIRED if order.status == OrderStatus.CREATED else order.status
        raise OrderQuoteRefused(OrderQuoteRefusal.NOT_WAITING, f"The order takes no payment now: it is {status}")
    return settled, order.amount_due


def require_read(resources: Resources, order: PublicOrder, chain_id: int) -> None:
    """Send nobody to a chain on which a payment would not be seen.

    Raises
    ------
    OrderQuoteRefused
        If nobody has read it for long.
    """
    if chain_id in list_unread(resources, order.env_mode, order.created_at):
        message = f"Chain {chain_id} has not been read for minutes, so no payment on it would be seen; use another one"
        raise OrderQuoteRefused(OrderQuoteRefusal.NO_ROUTE, message)


def _find_payment_token(resources: Resources, chain_id: int, address: str) -> Token:
    if chain_id not in CHAINS:
        raise InvalidData.at("chain_id", f"Unsupported chain; use one of {', '.join(map(str, CHAINS))}")
    token = resources.market.token(chain_id, address.lower())
    if token is None:
        raise InvalidData.at("token_address", f"Unknown token on chain {chain_id}; choose one of the order's tokens")
    return token


def _make_quote(
    resources: Resources, order_id: str, token: Token, settled: Token, due: int, details: dict[str, Any]
) -> OrderQuote:
    now = resources.clock.now()
    return OrderQuote(
        quote_id=make_id(IdPrefix.QUOTE, now),
        order_id=order_id,
        chain_id=token.chain_id,
        token_address=token.address,
        token_symbol=token.symbol,
        token_decimals=token.decimals,
        amount_out=due,
        settlement_chain_id=settled.chain_id,
        settlement_token_address=settled.address,
        created_at=now,
        expires_at=now + VALID_FOR,
        **details,
    )
