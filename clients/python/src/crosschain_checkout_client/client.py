"""The client that blocks; made from `async_client.py` by `make clients`."""

from __future__ import annotations

import time
from collections.abc import Generator
from types import TracebackType
from typing import Self, TypeVar

import httpx

from crosschain_checkout_client.calls import NOT_GIVEN, TIMEOUT_S, Call, NotGiven, name_options
from crosschain_checkout_client.orders import Orders, PaymentLinks, Refunds, Transfers
from crosschain_checkout_client.resources import (
    ApiKeys,
    Branding,
    Events,
    Quotes,
    Routes,
    Tokens,
)
from crosschain_checkout_client.retries import Retries
from crosschain_checkout_client.subscriptions import Webhooks

T = TypeVar("T")


class CheckoutClient:
    """Asks a checkout service; use it as a context manager, or close it with `close`.

    Parameters
    ----------
    base_url : str
        Where the service is, such as `https://pay.example`.
    api_key : str, optional
        `sk_test_…` or `sk_live_…`. Routes, quotes and tokens work without one. White space around it is taken off.
    timeout_s : float
        For a connection, and for each wait for more of an answer.
    retries : Retries
        How often and how patiently requests are sent again.
    transport : httpx.BaseTransport, optional
        Another way to reach the service, such as a proxy.

    Raises
    ------
    ValueError
        If the address is none; if the key is None or empty, such as a setting that is missing; or if it is a live key
        and the address plain http, but for this machine's own.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | NotGiven = NOT_GIVEN,
        *,
        timeout_s: float = TIMEOUT_S,
        retries: Retries = Retries(),  # noqa: B008  # it never changes
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(transport=transport, **name_options(base_url, api_key, timeout_s))
        self._retries = retries
        self.payment_links = PaymentLinks(self.send)
        self.orders = Orders(self.send, self.stream)
        self.refunds = Refunds(self.send)
        self.transfers = Transfers(self.send, self.stream)
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
        return call.read_outcome(request, self._try(request))

    def stream(self, call: Call[str]) -> Generator[str, None, None]:
        """Send a call, again where that is safe, and yield its answer as text, piece by piece.

        Raises
        ------
        RequestFailed
            If there is none, it is an error, or it ends too early.
        """
        request = call.build_request(self._http)
        response = call.check_outcome(request, self._try(request, is_streamed=True))
        try:
            yield from response.iter_text()
        except httpx.RequestError as error:
            call.check_outcome(request, error)
        finally:
            response.close()

    def _try(self, request: httpx.Request, *, is_streamed: bool = False) -> httpx.Response | httpx.RequestError:
        attempt = 1
        while True:
            outcome = self._try_once(request, is_streamed=is_streamed)
            wait_s = self._retries.choose_wait(attempt, request, outcome)
            if wait_s is None:
                return outcome
            time.sleep(wait_s)
            attempt += 1

    def _try_once(self, request: httpx.Request, *, is_streamed: bool) -> httpx.Response | httpx.RequestError:
        try:
            response = self._http.send(request, stream=is_streamed)
            if not response.is_success:
                response.read()
            return response
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
