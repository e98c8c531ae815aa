"""The stream of routes on the event loop: its websocket, and how many streams an address may hold.

A websocket's frames are answered by the same resource that serves server-sent events, each as a request of its own.
So keys, limits, checks and messages are the same. It has threads of its own: streams keep nobody else waiting.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from api.bodies.errors import build_envelope
from api.bodies.event_stream import DATA, END, build_error_message, encode
from api.counting.rate_limits import find_customer_network
from api.logs import REQUEST_ID_HEADER
from api.serving.refusals import Headers, write_refusal

PATH = "/v1/routes/stream"
FRAME_BYTES = 4096
PER_ADDRESS = 20
IDLE_S = 300
RETRY_S = 30
"""Until a stream that is open now may have ended."""
TOO_MANY = f"This address has {PER_ADDRESS} streams open; close one first"
CLOSE_IDLE, CLOSE_WRONG_KEY, CLOSE_TOO_MANY = 4408, 4401, 4429

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]
Tell = Callable[[str], Awaitable[None]]

READABLE: Headers = ((b"access-control-allow-origin", b"*"),)
"""Lets scripts of other sites read a refusal, as they may read the stream."""


class RouteStream:
    """ASGI application at `PATH`.

    Parameters
    ----------
    http : callable
        ASGI application that answers the requests at `PATH`.
    key_is_known : callable
        Whether a text is a valid API key; called in a thread.
    """

    def __init__(self, http: AsgiApp, *, key_is_known: Callable[[str], bool]) -> None:
        self._http = http
        self._key_is_known = key_is_known
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        address = find_customer_network((scope.get("client") or ("",))[0])
        is_socket = scope["type"] == "websocket"
        if self._open[address] >= PER_ADDRESS:
            await (
                self._refuse_socket(receive, send)
                if is_socket
                else refuse_request(scope, send, 429, TOO_MANY, RETRY_S, READABLE)
            )
            return
        self._open[address] += 1
        try:
            await (self._converse(scope, receive, send) if is_socket else self._http(scope, receive, send))
        finally:
            self._open[address] -= 1
            self._open += Counter()  # forgets addresses without streams

    async def _converse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer frame after frame until the client has had enough."""

        async def tell(text: str) -> None:
            await send({"type": "websocket.send", "text": text})

        await receive()
        await send({"type": "websocket.accept"})
        status = await self._check_key(scope, tell)
        while status != 401:
            try:
                frame = await asyncio.wait_for(receive(), IDLE_S)
            except TimeoutError:
                await send({"type": "websocket.close", "code": CLOSE_IDLE, "reason": "idle"})
                return
            if frame["type"] == "websocket.disconnect":
                return
            status = await self._reply(scope, frame.get("text"), tell)
        await send({"type": "websocket.close", "code": CLOSE_WRONG_KEY, "reason": "the API key is not valid"})

    async def _check_key(self, scope: Scope, tell: Tell) -> int:
        """Refuse a wrong key before the first frame; the resource does it, which counts and logs the attempt."""
        key = next((value for name, value in scope["headers"] if name == b"x-api-key"), b"")
        if not key or await asyncio.to_thread(self._key_is_known, key.decode("latin-1")):
            return 200
        return await self._ask(scope, "OPTIONS", b"", tell)

    async def _reply(self, scope: Scope, text: str | None, tell: Tell) -> int:
        if text is None:
            await tell(encode(build_error_message(build_envelope(400, "Send JSON in text frames, not binary ones"))))
            return 400
        body = text.encode()
        if len(body) > FRAME_BYTES:
            await tell(encode(build_error_message(build_envelope(413, f"A frame holds at most {FRAME_BYTES} bytes"))))
            return 413
        return await self._ask(scope, "POST", body, tell)

    async def _ask(self, scope: Scope, method: str, body: bytes, tell: Tell) -> int:
        """Send one request to the resource, tell the client every message of the answer, and return its status."""
        answer = _Answer(tell)
        request = {"type": "http.request", "body": body, "more_body": False}

        async def receive() -> Message:
            return request

        await self._http(_request_scope(scope, method, body), receive, answer.take)
        return answer.status

    async def _refuse_socket(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": encode(build_error_message(build_envelope(429, TOO_MANY)))})
        await send({"type": "websocket.close", "code": CLOSE_TOO_MANY, "reason": "too many streams"})


class _Answer:
    """Takes an HTTP answer apart into the messages of a socket."""

    def __init__(self, tell: Tell) -> None:
        self.status = 0
        self._tell = tell
        self._rest = b""
        self._is_gone = False

    async def take(self, event: Message) -> None:
        """Take the next part of the answer."""
        if event["type"] == "http.response.start":
            self.status = event["status"]
            return
        self._rest += event.get("body", b"")
        if self.status == 200:
            *events, self._rest = self._rest.split(END.encode())
            for text in events:
                await self._say(text.decode().removeprefix(DATA))
        elif not event.get("more_body"):
            await self._say(encode(build_error_message(json.loads(self._rest))))

    async def _say(self, text: str) -> None:
        """Pass one message on; once the client is gone, the rest of the answer is dropped, so that its thread ends."""
        if self._is_gone:
            return
        try:
            await self._tell(text)
        except OSError:
            self._is_gone = True


def _request_scope(socket: Scope, method: str, body: bytes) -> Scope:
    """Describe an HTTP request that comes with a socket's address and key."""
    kept = [(name, value) for name, value in socket["headers"] if name in {b"host", b"x-api-key"}]
    headers = [*kept, (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    scheme = "https" if socket.get("scheme") == "wss" else "http"
    named = {"type": "http", "method": method, "scheme": scheme, "path": PATH, "headers": headers}
    return {name: value for name, value in socket.items() if name not in {"subprotocols", "extensions"}} | named


async def refuse_request(
    scope: Scope, send: Send, status: int, message: str, retry_s: int | None = None, more: Headers = ()
) -> None:
    """Answer on the event loop that a request, or a socket that is to be opened, is not served, with `more` headers."""
    given = dict(scope["headers"]).get(REQUEST_ID_HEADER.lower().encode(), b"").decode("latin-1")
    headers, body = write_refusal(status, message, given)
    retry = () if retry_s is None else ((b"retry-after", str(retry_s).encode()),)
    answer = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    await send({"type": f"{answer}.start", "status": status, "headers": [*headers, *retry, *more]})
    await send({"type": f"{answer}.body", "body": body})
