"""The client that is awaited; `client.py` is made from this file by `make clients`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import TracebackType
from typing import Self, TypeVar

import anyio
import httpx

from crosschain_checkout_client.async_orders import AsyncOrders, AsyncPaymentLinks, AsyncRefunds, AsyncTransfers
from crosschain_checkout_client.async_resources import (
    AsyncApiKeys,
    AsyncBranding,
    AsyncEvents,
    AsyncQuotes,
    AsyncRoutes,
    AsyncTokens,
)
from crosschain_checkout_client.async_subscriptions import AsyncWebhooks
from crosschain_checkout_client.calls import NOT_GIVEN, TIMEOUT_S, Call, NotGiven, name_options
from crosschain_checkout_client.retries import Retries

T = TypeVar("T")


class AsyncCheckoutClient:
    """Asks a checkout service; use it as an asynchronous context manager, or close it with `aclose`.

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
    transport : httpx.AsyncBaseTransport, optional
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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(transport=transport, **name_options(base_url, api_key, timeout_s))
        self._retries = retries
        self.payment_links = AsyncPaymentLinks(self.send)
        self.orders = AsyncOrders(self.send, self.stream)
        self.refunds = AsyncRefunds(self.send)
        self.transfers = AsyncTransfers(self.send, self.stream)
        self.routes = AsyncRoutes(self.send)
        self.quotes = AsyncQuotes(self.send)
        self.tokens = AsyncTokens(self.send)
        self.webhooks = AsyncWebhooks(self.send)
        self.events = AsyncEvents(self.send)
        self.branding = AsyncBranding(self.send)
        self.api_keys = AsyncApiKeys(self.send)

    async def send(self, call: Call[T]) -> T:
        """Send a call, again where that is safe, and return its answer.

        Raises
        ------
        RequestFailed
            If there is none, or it is an error.
        """
        request = call.build_request(self._http)
        return call.read_outcome(request, await self._try(request))

    async def stream(self, call: Call[str]) -> AsyncGenerator[str, None]:
        """Send a call, again where that is safe, and yield its answer as text, piece by piece.

        Raises
        ------
        RequestFailed
            If there is none, it is an error, or it ends too early.
        """
        request = call.build_request(self._http)
        response = call.check_outcome(request, await self._try(request, is_streamed=True))
        try:
            async for piece in response.aiter_text():
                yield piece
        except httpx.RequestError as error:
            call.check_outcome(request, error)
        finally:
            await response.aclose()

    async def _try(self, request: httpx.Request, *, is_streamed: bool = False) -> httpx.Response | httpx.RequestError:
        attempt = 1
        while True:
            outcome = await self._try_once(request, is_streamed=is_streamed)
            wait_s = self._retries.choose_wait(attempt, request, outcome)
            if wait_s is None:
                return outcome
            await anyio.sleep(wait_s)
            attempt += 1

    async def _try_once(self, request: httpx.Request, *, is_streamed: bool) -> httpx.Response | httpx.RequestError:
        try:
            response = await self._http.send(request, stream=is_streamed)
            if not response.is_success:
                await response.aread()
            return response
        except httpx.RequestError as error:
            return error

    async def aclose(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        await self.aclose()
