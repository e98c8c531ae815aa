"""What the sender of a websocket may make the process keep: no more than of a request (`connections.py`)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.datastructures import Headers
from websockets.frames import CloseCode, Frame
from websockets.http11 import Response
from websockets.server import ServerProtocol
from websockets.typing import StatusLike

from api.serving.connections import Unread
from api.serving.refusals import write_refusal, write_whole_refusal

FRAGMENTS = 1_000
"""Of one message: empty ones add nothing to its length, and never end it."""


class _Handshake(ServerProtocol):
    """A handshake that is refused with the error body of the service."""

    def reject(self, status: StatusLike, text: str) -> Response:
        """Compose the refusal; of several lines of `text` the first says why."""
        code = HTTPStatus(status)
        headers, body = write_refusal(code, text.partition("\n")[0] or code.phrase)
        named = Headers({name.decode(): value.decode() for name, value in headers}, connection="close")
        return Response(code, code.phrase, named, body)


class EvenProtocol(WebSocketsSansIOProtocol):
    """Websockets that take as much as they can give: who reads no answers, pongs among them, is not read either."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.conn: ServerProtocol = _Handshake(
            extensions=self.conn.available_extensions, max_size=self.config.ws_max_size, logger=self.logger
        )
        self._unread = Unread()

    def data_received(self, data: bytes) -> None:
        """Take what came. The first of it is a whole head: one that opens no socket is refused, or it would wait."""
        super().data_received(data)
        if not self.handshake_initiated and not self.transport.is_closing():
            cause = self.conn.handshake_exc and self.conn.handshake_exc.__cause__
            message = f"No socket can be opened by this request: {cause or 'it is not whole'}"
            self.transport.write(write_whole_refusal(HTTPStatus.BAD_REQUEST, message))
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._unread.end()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Read nothing, since pongs are written whether or not there is room for them."""
        super().pause_writing()
        self._unread.begin(self.transport)
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Go on: enough was taken."""
        self._unread.end()
        super().resume_writing()
        if not self.read_paused and not self.transport.is_closing():
            self.transport.resume_reading()

    async def receive(self) -> Any:
        """Return the next message; that it is taken makes no room for answers."""
        message = await super().receive()
        if not self.writable.is_set() and not self.transport.is_closing():
            self.transport.pause_reading()
        return message

    def handle_cont(self, event: Frame) -> None:
        """Take a piece of a message, unless there are too many."""
        if len(self.frames) < FRAGMENTS:
            super().handle_cont(event)
        elif not self.close_sent:
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG, "Too many fragments")
            self.handle_parser_exception()
