"""The operations, blocking; made from `async_resources.py` by `make clients`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, Unpack

from crosschain_checkout_client import models
from crosschain_checkout_client.calls import Call, check_id
from crosschain_checkout_client.errors import NoRoute
from crosschain_checkout_client.filters import OrderFilter, write_filter
from crosschain_checkout_client.pages import Send, list_pages
from crosschain_checkout_client.wire import write_camel, write_value

ORDERS = "/api/v1/payment"
QUOTES = "/api/v1/quote"
Objective = Literal["cheapest", "fastest", "balanced"]


class PaymentLinks:
    """Ask a customer for money."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def create(
        self, *, idempotency_key: str | None = None, **link: Unpack[models.NewPaymentLink]
    ) -> models.PaymentLink:
        """Make an order and the address of the page where the customer pays it.

        Give an `idempotency_key` of your own, such as the cart's id, and the same cart never has two orders, even if
        your program ends in between.
        """
        path = "/api/v1/payment_link"
        call = Call(method="POST", path=path, kind=models.PaymentLink, body=link, idempotency_key=idempotency_key)
        return self._send(call)


class Orders:
    """Payment orders and their refunds."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def get(self, order_id: str) -> models.PaymentOrder:
        """Read an order."""
        return self._send(Call(method="GET", path=f"{ORDERS}/{check_id(order_id)}", kind=models.PaymentOrder))

    def list(
        self, *, page_size: int | None = None, cursor: str | None = None, **filters: Unpack[OrderFilter]
    ) -> Iterator[models.PaymentOrder]:
        """Yield the orders of the key's environment, newest first, asking for a page at a time."""

        def ask(start: str | None) -> models.OrderList:
            return self.get_page(limit=page_size, cursor=start, **filters)

        for page in list_pages(ask, cursor):
            yield from page.data

    def get_page(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[OrderFilter]
    ) -> models.OrderList:
        """Read one page of orders, with the cursor of the next."""
        query = write_filter(filters) | {"limit": limit, "cursor": cursor}
        return self._send(Call(method="GET", path=ORDERS, kind=models.OrderList, query=query))

    def cancel(self, order_id: str, *, idempotency_key: str | None = None) -> models.PaymentOrder:
        """Take back an order that has not been paid in full."""
        return self._act(order_id, "cancel", None, idempotency_key)

    def refund(
        self, order_id: str, *, idempotency_key: str | None = None, **refund: Unpack[models.NewRefund]
    ) -> models.PaymentOrder:
        """Send some or all of what came for an order back.

        `refunds` of the order has each `transaction` that your own wallet has to sign. Where nobody can know whether it
        was carried out, the error has the `idempotency_key` to try it again with.
        """
        return self._act(order_id, "refund", refund, idempotency_key)

    def simulate(
        self, order_id: str, action: models.Action, *, quote_id: str | None = None, idempotency_key: str | None = None
    ) -> models.PaymentOrder:
        """Let something happen to a test order."""
        body = {"action": action} if quote_id is None else {"action": action, "quote_id": quote_id}
        return self._act(order_id, "simulate", body, idempotency_key)

    def _act(self, order_id: str, act: str, body: object, key: str | None) -> models.PaymentOrder:
        path = f"{ORDERS}/{check_id(order_id)}/{act}"
        given = write_value(body)
        return self._send(Call(method="POST", path=path, kind=models.PaymentOrder, body=given, idempotency_key=key))


class Routes:
    """Routes between tokens, across chains."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def find(
        self, *, tokens: Literal["inline", "once"] | None = None, **query: Unpack[models.RouteQuery]
    ) -> models.Route:
        """Find the best route, by `input_amount` or by the `output_amount` that is to arrive.

        Raises
        ------
        NoRoute
            With each protocol and why it can't serve.
        """
        body, shape = write_camel(query), {"tokens": tokens}
        return self._send(
            Call(method="POST", path="/v1/routes", kind=models.Route, body=body, query=shape, not_found=NoRoute)
        )


class Quotes:
    """What a swap gives at the market rate."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def get(
        self,
        *,
        from_chain: int,
        to_chain: int,
        from_token: str,
        to_token: str,
        from_amount: int | None = None,
        to_amount: int | None = None,
        slippage_bps: int | None = None,
        order: Objective | None = None,
    ) -> models.Quote:
        """Ask what `from_amount` gives, or what `to_amount` costs; the answer holds for 60 seconds.

        Raises
        ------
        NoRoute
            With each protocol and why it can't serve.
        """
        given = {
            "from_chain": from_chain, "to_chain": to_chain, "from_token": from_token, "to_token": to_token,
            "from_amount": from_amount, "to_amount": to_amount, "slippage_bps": slippage_bps, "order": order,
        }  # fmt: skip
        query = write_camel(given)
        return self._send(Call(method="GET", path=QUOTES, kind=models.Quote, query=query, not_found=NoRoute))

    def read(self, quote_id: str) -> models.Quote:
        """Read a quote again."""
        return self._send(Call(method="GET", path=f"{QUOTES}/{check_id(quote_id)}", kind=models.Quote))

    def replay(self, quote_id: str) -> models.Quote:
        """Make a quote again from the market that it was made on: the same figures, or something is wrong."""
        return self._send(Call(method="GET", path=f"{QUOTES}/{check_id(quote_id)}/replay", kind=models.Quote))

    def archive(self, quote_id: str) -> models.QuoteArchive:
        """Read a quote with all that it rests on, for `routing-engine replay`."""
        path = f"{QUOTES}/{check_id(quote_id)}/archive"
        return self._send(Call(method="GET", path=path, kind=models.QuoteArchive))


class Tokens:
    """Supported tokens and chains."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def list(
        self, *, chain_id: int | None = None, search: str | None = None, page_size: int | None = None
    ) -> Iterator[models.Token]:
        """Yield the tokens, asking for a page at a time."""

        def ask(start: str | None) -> models.TokenList:
            return self.get_page(chain_id=chain_id, search=search, limit=page_size, cursor=start)

        for page in list_pages(ask, None):
            yield from page.tokens

    def get_page(
        self,
        *,
        chain_id: int | None = None,
        search: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.TokenList:
        """Read one page of tokens, with the supported chains."""
        query = {"chainId": chain_id, "search": search, "limit": limit, "cursor": cursor}
        return self._send(Call(method="GET", path="/v1/tokens", kind=models.TokenList, query=query))


class Events:
    """Events, for whoever compares what its webhooks received with what happened."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def list(
        self, *, since: str | datetime | None = None, page_size: int | None = None
    ) -> Iterator[models.ListedEvent]:
        """Yield the events of the key's environment, oldest first, from an event's id or a moment on."""

        def ask(start: str | None) -> models.EventPage:
            return self.get_page(since=start, limit=page_size)

        for page in list_pages(ask, write_value(since)):
            yield from page.data

    def get(self, event_id: str) -> models.ListedEvent:
        """Read an event."""
        return self._send(Call(method="GET", path=f"/api/v1/events/{check_id(event_id)}", kind=models.ListedEvent))

    def get_page(self, *, since: str | datetime | None = None, limit: int | None = None) -> models.EventPage:
        """Read one page of events; `next_cursor` is the next `since`, also once there are no more for now."""
        query = {"since": since, "limit": limit}
        return self._send(Call(method="GET", path="/api/v1/events", kind=models.EventPage, query=query))


class Branding:
    """The look of the payment page."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def get(self) -> models.Brand:
        """Read what customers see of the vendor."""
        return self._send(Call(method="GET", path="/api/v1/branding", kind=models.Brand))

    def update(self, **change: Unpack[models.BrandChange]) -> models.Brand:
        """Change what is named; empty text takes a choice back."""
        return self._send(Call(method="PATCH", path="/api/v1/branding", kind=models.Brand, body=change))


class ApiKeys:
    """The key that is calling."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def get(self) -> models.ApiKey:
        """Read what the key is for, what it may do and when it ends."""
        return self._send(Call(method="GET", path="/api/v1/api_key", kind=models.ApiKey))
