"""The stream of news of one order on the event loop: a page that is open holds no thread.

The resource at the address answers like any other, with limits, headers and the order's version. That answer stays open
here, and says when the version changes. One look-up a second finds that out for all streams of the process. What is new
the page asks for itself: so a stream and a plain question can't say different things.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

import structlog

from api.bodies.errors import DATABASE_DOWN
from api.bodies.event_stream import encode_news, read_news_version
from api.counting.rate_limits import find_customer_network
from api.serving.stream import RETRY_S, AsgiApp, Message, Receive, Scope, Send, refuse_request

PATH = re.compile(r"/payment/([^/]+)/events")
PER_ADDRESS = 60
"""Streams of one address: a café or an office has one address for all its customers."""
PER_ORDER = 20
"""Streams of one order: who has its link takes the places of no other one's customer."""
IN_ALL = 2_000
"""Streams of this process. Who gets none asks again and again instead, as without streams."""
LOOK_S = 1.0
HEARTBEAT_S = 15.0
LIFE_S = 300.0
"""About how long one stream lasts; the browser resumes it."""
HEARTBEAT = b":\n\n"
TOO_MANY = "Too many streams are open; ask for the status instead"

log = structlog.get_logger(__name__)


class OrderStream:
    """ASGI application at `PATH`.

    Parameters
    ----------
    http : callable
        ASGI application that answers the requests at `PATH`.
    read_versions : callable
        Returns the present versions of orders; called in a thread.
    """

    def __init__(self, http: AsgiApp, *, read_versions: Callable[[Collection[str]], Mapping[str, str]]) -> None:
        self._http = http
        self._watch = _Watch(read_versions)
        self._by_address: Counter[str] = Counter()
        self._by_order: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        address, order_id = find_customer_network((scope.get("client") or ("",))[0]), _find_order_id(scope)
        if (
            self._by_address[address] >= PER_ADDRESS
            or self._by_order[order_id] >= PER_ORDER
            or self._by_address.total() >= IN_ALL
        ):
            await refuse_request(scope, send, 429, TOO_MANY, RETRY_S)
            return
        self._by_address[address] += 1
        self._by_order[order_id] += 1
        try:
            await self._serve(scope, receive, send)
        finally:
            self._by_address -= Counter((address,))  # forgets whoever has no stream
            self._by_order -= Counter((order_id,))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = _FirstAnswer()
        await self._http(scope, receive, first.take)
        if first.start["status"] != 200:
            await send(first.start)
            await send({"type": "http.response.body", "body": first.body})
            return
        kept = [(name, value) for name, value in first.start["headers"] if name.lower() != b"content-length"]
        await send({**first.start, "headers": kept})
        await send({"type": "http.response.body", "body": first.body, "more_body": True})
        listener = self._watch.add(_find_order_id(scope), read_news_version(first.body))
        leaving = asyncio.ensure_future(_notice_leaving(receive, listener))
        try:
            await _tell(listener, send)
        finally:
            leaving.cancel()
            self._watch.remove(listener)


class _Listener:
    """One open stream: what it has been told, and whether there is something to do for it."""

    def __init__(self, order_id: str, version: str) -> None:
        self.order_id = order_id
        self.version = version
        self.is_gone = False
        self.has_news = asyncio.Event()


class _Watch:
    """Looks up the versions of all orders that have a stream, again and again while there are any."""

    def __init__(self, read_versions: Callable[[Collection[str]], Mapping[str, str]]) -> None:
        self._read_versions = read_versions
        self._listeners: defaultdict[str, set[_Listener]] = defaultdict(set)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="order-news")
        self._task: asyncio.Task[None] | None = None

    def add(self, order_id: str, version: str) -> _Listener:
        """Begin to tell of changes after `version`."""
        listener = _Listener(order_id, version)
        self._listeners[order_id].add(listener)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())
        return listener

    def remove(self, listener: _Listener) -> None:
        """Tell no more."""
        self._listeners[listener.order_id].discard(listener)
        if not self._listeners[listener.order_id]:
            del self._listeners[listener.order_id]

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        while self._listeners:
            await asyncio.sleep(LOOK_S)
            try:
                versions = await loop.run_in_executor(self._thread, self._read_versions, list(self._listeners))
            except DATABASE_DOWN:
                log.warning("order_versions_unknown", exc_info=True)
                continue
            for order_id, version in versions.items():
                for listener in self._listeners.get(order_id, ()):
                    if listener.version != version:
                        listener.version = version
                        listener.has_news.set()


def _find_order_id(scope: Scope) -> str:
    found = PATH.fullmatch(scope["path"])
    return found[1] if found else ""


class _FirstAnswer:
    """Collects the answer of the resource."""

    def __init__(self) -> None:
        self.start: Message = {}
        self.body = b""

    async def take(self, event: Message) -> None:
        """Take the next part."""
        if event["type"] == "http.response.start":
            self.start = event
        else:
            self.body += event.get("body", b"")


async def _tell(listener: _Listener, send: Send) -> None:
    """Send what is new, and a sign of life while nothing is, until the stream has lasted long enough."""
    clock = asyncio.get_running_loop().time
    # Not all streams that began together end together.
    end = clock() + LIFE_S * random.uniform(0.8, 1.2)
    while (left := end - clock()) > 0:
        try:
            await asyncio.wait_for(listener.has_news.wait(), min(left, HEARTBEAT_S))
        except TimeoutError:
            await send({"type": "http.response.body", "body": HEARTBEAT, "more_body": True})
            continue
        if listener.is_gone:
            return
        listener.has_news.clear()
        news = encode_news(listener.version).encode()
        await send({"type": "http.response.body", "body": news, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _notice_leaving(receive: Receive, listener: _Listener) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    listener.is_gone = True
    listener.has_news.set()
