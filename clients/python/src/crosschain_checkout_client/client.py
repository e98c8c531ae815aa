"""The client that blocks; made from `async_client.py` by `make clients`."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self, TypeVar

import httpx

from crosschain_checkout_client.calls import TIMEOUT_S, Call, name_options
from crosschain_checkout_client.resources import (
    ApiKeys,
    Branding,
    Events,
    Orders,
    PaymentLinks,
    Quotes,
    Routes,
    Tokens,
)
from crosschain_checkout_client.retries import Retries
from crosschain_checkout_client.subscriptions import Webhooks
from crosschain_checkout_client.unmatched import UnmatchedTransfers

T = TypeVar("T")


class CheckoutClient:
    """Asks a checkout service; use it as an context manager, or close it with `close`.

    Parameters
    ----------
    base_url : str
        Where the service is, such as `https://pay.example`.
    api_key : str, optional
        `sk_test_…` or `sk_live_…`. Routes, quotes and tokens work without one.
    timeout_s : float
        For a connection, and for each wait for more of an answer.
    retries : Retries
        How often and how patiently requests are sent again.
    transport : httpx.BaseTransport, optional
        Another way to reach the service, such as a proxy.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        retries: Retries = Retries(),  # noqa: B008  # it never changes
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(transport=transport, **name_options(base_url, api_key, timeout_s))
        self._retries = retries
        self.payment_links = PaymentLinks(self.send)
        self.orders = Orders(self.send)
        self.unmatched_transfers = UnmatchedTransfers(self.send)
        self.routes = Routes(self.send)
        self.quotes = Quotes(self.send)
        self.tokens = Tokens(self.send)
        self.webhooks = Webhooks(self.send)
        self.events = Events(self.send)
        self.branding = Branding(self.send)
        self.api_keys = ApiKeys(self.send)

    def send(self, call: Call[T]) -> T:
        """Send a call, again where that is safe, and return its answer.

        Raises
        ------
        RequestFailed
            If there is none, or it is an error.
        """
        request = call.build_request(self._http)
        attempt = 1
        while True:
            outcome = self._try_once(request)
            wait_s = self._retries.choose_wait(attempt, request, outcome)
            if wait_s is None:
                return call.read_outcome(request, outcome)
            time.sleep(wait_s)
            attempt += 1

    def _try_once(self, request: httpx.Request) -> httpx.Response | httpx.RequestError:
        try:
            return self._http.send(request)
        except httpx.RequestError as error:
            return error

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.close()
