"""What a customer pays for an order in the token of their choice: quotes that are held for a minute."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from api.domain.errors import Conflict, InvalidData, NotFound, Problem
from api.domain.ids import IdPrefix, make_id
from api.domain.orders import OrderStatus
from api.services.checkout.payable_routes import find_payable
from api.services.checkout.payable_tokens import PayableChain, PayableToken, find_settlement_token
from api.services.checkout.quote import OrderQuote
from api.services.orders.views import PublicOrder, load_public_order
from api.services.resources import Resources
from api.services.routing.query import BPS, RouteQuery, choose_slippage_bps
from api.services.routing.routes import RouteNotFound, make_route_writer, require_routes, unknown_is_no_route
from api.services.routing.serializers import VALID_FOR
from api.storage.tables import StoredQuote
from routing_engine import RouteRequest, Side, Token
from routing_engine.reference.chains import CHAINS, block_time_s

if TYPE_CHECKING:
    from api.services.chains.chain_access import ChainAccess
    from routing_engine import Route, Router

__all__ = [
    "OrderQuote",
    "OrderQuoteRefusal",
    "OrderQuoteRefused",
    "PayableChain",
    "PayableToken",
    "get_order_quote",
    "quote_order",
]


class OrderQuoteRefusal(StrEnum):
    """Why an order has no quote."""

    NOT_PAYABLE = "order_not_payable"
    NOT_WAITING = "order_not_waiting_for_payment"
    NO_ROUTE = "no_route"
    EXPIRED = "quote_expired"
    TOO_LITTLE = "balance_too_low"
    WOULD_FAIL = "payment_would_fail"
    REJECTED = "wallet_rejected"


class OrderQuoteRefused(Conflict):
    """An order can't be paid this way now; `reason` says why in a word, `message` in a sentence."""

    def __init__(self, reason: OrderQuoteRefusal, message: str, *problems: Problem) -> None:
        super().__init__(message, *problems)
        self.reason = reason


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
        If the order can't be paid, is not waiting for a payment, or no route leads to its settlement token.
    """
    order = load_public_order(resources, order_id)
    settled, due = require_due(resources, order)
    token = _find_payment_token(resources, chain_id, token_address)
    access = resources.chain_access.get(order.env_mode)
    if token == settled:
        details = _describe_transfer(settled, due)
    elif access is None:
        details = _find_route(resources, token, settled, due)
    else:
        details = _find_payable_route(resources, access, token, settled, due)
    quote = _make_quote(resources, order_id, token, settled, due, details)
    with resources.database.write() as session:
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
    if not order.payable or settled is None:
        message = "The order can't be paid: the merchant has no settlement account that is connected to a chain"
        raise OrderQuoteRefused(
            OrderQuoteRefusal.NOT_PAYABLE, message, Problem(path="order", message=order.not_payable_reason)
        )
    is_waiting = order.status == OrderStatus.CREATED and resources.clock.now() < order.expires_at
    is_short = order.status == OrderStatus.PROCESSING  # what is on its way over a bridge may be a stranger's
    if not (is_waiting or is_short) or not order.amount_due:
        status = OrderStatus.EXPIRED if order.status == OrderStatus.CREATED else order.status
        raise OrderQuoteRefused(OrderQuoteRefusal.NOT_WAITING, f"The order takes no payment now: it is {status}")
    return settled, order.amount_due


def _find_payment_token(resources: Resources, chain_id: int, address: str) -> Token:
    if chain_id not in CHAINS:
        raise InvalidData.at("chain_id", f"Unsupported chain; use one of {', '.join(map(str, CHAINS))}")
    token = resources.market.token(chain_id, address.lower())
    if token is None:
        raise InvalidData.at("token_address", f"Unknown token on chain {chain_id}; choose one of the order's tokens")
    return token


def _describe_transfer(token: Token, due: int) -> dict[str, Any]:
    return {"amount_in": due, "amount_in_max": due, "fill_time_s": block_time_s(token.chain_id)}


def _find_route(resources: Resources, token: Token, settled: Token, due: int) -> dict[str, Any]:
    # A customer waits for it at the checkout, so time counts as well as money.
    # One path, so that the customer signs as little as possible.
    request = RouteRequest(
        token_in=token, token_out=settled, amount=due, side=Side.EXACT_OUT, order="balanced", max_splits=1
    )
    query = RouteQuery(request=request, slippage_bps=choose_slippage_bps(token, settled))
    router = resources.market.router
    try:
        with unknown_is_no_route(router):
            route = require_routes(router.find_routes(request))[0]
    except RouteNotFound as error:
        raise OrderQuoteRefused(OrderQuoteRefusal.NO_ROUTE, error.message, *error.problems) from error
    return _describe_route(resources, router, query, route)


def _find_payable_route(
    resources: Resources, access: ChainAccess, token: Token, settled: Token, due: int
) -> dict[str, Any]:
    router = resources.market.router
    found = find_payable(router, access.builders, token, settled, due) if token.chain_id in access.chains else None
    if found is None:
        message = f"No single transaction turns {token} into {settled} for the merchant"
        raise OrderQuoteRefused(OrderQuoteRefusal.NO_ROUTE, message)
    request = RouteRequest(token_in=token, token_out=settled, amount=due, side=Side.EXACT_OUT)
    query = RouteQuery(request=request, slippage_bps=choose_slippage_bps(token, settled))
    return {**_describe_route(resources, router, query, found.route), "hops": found.hops}


def _describe_route(resources: Resources, router: Router, query: RouteQuery, route: Route) -> dict[str, Any]:
    writer = make_route_writer(resources, router, query)
    return {
        "amount_in": route.amount_in,
        "amount_in_max": query.most_in(route.amount_in),
        "fill_time_s": route.fill_time_s,
        "steps": tuple(writer.steps(route)),
        "fees": tuple(writer.total_fees(route)),
        "gas": route.gas,
        "price_impact_bps": round(route.price_impact * BPS),
        "snapshot_id": router.snapshot.id,
    }


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
