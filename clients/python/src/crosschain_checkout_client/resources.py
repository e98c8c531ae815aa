"""The operations but for orders and webhooks, blocking; made from `async_resources.py` by `make clients`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, Unpack

from crosschain_checkout_client import models
from crosschain_checkout_client.calls import Call
from crosschain_checkout_client.checks import check_id
from crosschain_checkout_client.errors import NoRoute
from crosschain_checkout_client.pages import Send, list_pages
from crosschain_checkout_client.wire import write_camel, write_value

QUOTES = "/api/v1/quote"
EVENTS = "/api/v1/events"
Objective = Literal["cheapest", "fastest", "balanced"]


class Routes:
    """Routes between tokens, across chains."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def find(
        self, *, tokens: Literal["inline", "once"] | None = None, **query: Unpack[models.RouteQuery]
    ) -> models.Route:
        """Find the best route, by `input_amount` or by the `output_amount` that is to arrive.

        With `payer` and `recipient` it has `legs`, with what the payer's wallet sends.

        Raises
        ------
        NoRoute
            With each protocol and why it can't serve.
        """
        body, shape = write_camel(query), {"tokens": tokens}
        return self._send(
            Call(method="POST", path="/v1/routes", kind=models.Route, body=body, query=shape, not_found=NoRoute)
        )

    def follow(self, *, chain_id: int, transaction_hash: str) -> models.FollowedTransaction:
        """Ask what became of the transaction of a leg, on its chain and over a bridge."""
        query = {"chainId": chain_id, "transactionHash": transaction_hash}
        return self._send(Call(method="GET", path="/v1/routes/status", kind=models.FollowedTransaction, query=query))


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
        return self._send(Call(method="GET", path=f"{QUOTES}/{check_id(quote_id=quote_id)}", kind=models.Quote))

    def replay(self, quote_id: str) -> models.Quote:
        """Make a quote again from the market that it was made on: the same figures, or something is wrong."""
        return self._send(Call(method="GET", path=f"{QUOTES}/{check_id(quote_id=quote_id)}/replay", kind=models.Quote))

    def archive(self, quote_id: str) -> models.QuoteArchive:
        """Read a quote with all that it rests on, for `routing-engine replay`."""
        path = f"{QUOTES}/{check_id(quote_id=quote_id)}/archive"
        return self._send(Call(method="GET", path=path, kind=models.QuoteArchive))


class Tokens:
    """Supported tokens and chains."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def list(
        self, *, chain_id: int | None = None, search: str | None = None, limit: int | None = None
    ) -> Iterator[models.Token]:
        """Yield the tokens, asking for a page at a time."""

        def ask(start: str | None) -> models.TokenList:
            return self.get_page(chain_id=chain_id, search=search, limit=limit, cursor=start)

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

    def get(self, event_id: str) -> models.ListedEvent:
        """Read an event: what webhooks got."""
        return self._send(Call(method="GET", path=f"{EVENTS}/{check_id(event_id=event_id)}", kind=models.ListedEvent))

    def list(
        self,
        *,
        since: str | datetime | None = None,
        type: models.EventType | None = None,
        payment_order_id: str | None = None,
        limit: int | None = None,
    ) -> Iterator[models.ListedEvent]:
        """Yield the events of the key's environment, oldest first, from an event's id or a moment on."""

        def ask(start: str | None) -> models.EventPage:
            return self.get_page(since=start, type=type, payment_order_id=payment_order_id, limit=limit)

        for page in list_pages(ask, write_value(since)):
            yield from page.data

    def get_page(
        self,
        *,
        since: str | datetime | None = None,
        type: models.EventType | None = None,
        payment_order_id: str | None = None,
        limit: int | None = None,
    ) -> models.EventPage:
        """Read one page of events; `next_cursor` is the next `since`, also once there are no more for now."""
        query = {"since": since, "type": type, "payment_order_id": payment_order_id, "limit": limit}
        return self._send(Call(method="GET", path=EVENTS, kind=models.EventPage, query=query))


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
