"""What one connection may make the process keep, and for how long.

uvicorn's protocols bound what a *request* is. Here is bounded what its sender makes of it: a head, a chunk's line or a
trailer that never ends, requests sent ahead of their answers, answers that nobody takes.
"""

from __future__ import annotations

import re
from asyncio import TimerHandle, Transport, get_running_loop
from enum import Enum, auto
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from api.serving import order_stream
from api.serving.refusals import write_whole_refusal

HEAD_BYTES = 64 * 1024
"""Of a request: its address and headers; and what frames its body, between two pieces of it and behind the last."""
WHOLE_S = 60.0
"""Within this a request has come, from its first byte to its last, and to a new connection its first."""
AHEAD = 100
"""Requests of a connection that wait for the answer to an earlier one."""
METHODS = frozenset((b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"CONNECT", b"OPTIONS", b"TRACE", b"PATCH"))
"""Of HTTP; the parser knows each."""
NOT_TAKEN = b"TRACE"
"""No address takes it. Nothing else about a request depends on it."""
TAKE_S = 60.0
"""Within this a peer takes something of what waits for it; the next time begins then."""

_REQUEST = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}(?= /\S* HTTP/1\.[01]\r?\n)")
"""The method of a request whose first line came whole; others are left to the parser."""


class _Part(Enum):
    """The part of a request that is due."""

    NONE = auto()
    HEAD = auto()
    BODY = auto()


class Unread:
    """What waits for a peer that takes nothing: its connection is ended after `TAKE_S`.

    Closing would not do, since it waits until all is taken.
    """

    def __init__(self) -> None:
        self._timer: TimerHandle | None = None

    def begin(self, transport: Transport) -> None:
        """Begin to look whether the peer takes what waits in `transport`."""
        self.end()
        left = transport.get_write_buffer_size()
        self._timer = get_running_loop().call_later(TAKE_S, self._judge, transport, left)

    def end(self) -> None:
        """Look no more: enough was taken, or the connection is lost."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _judge(self, transport: Transport, left: int) -> None:
        if transport.get_write_buffer_size() < left:
            self.begin(transport)
        else:
            transport.abort()


class TooManyAhead(Exception):
    """A client sends requests and takes no answers."""


class EndingProtocol(HttpToolsProtocol):
    """HTTP in which everything ends: what a client sends, what it leaves unread, and a stream when the server does."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._due = _Part.NONE
        self._answered: RequestResponseCycle | None = None
        self._framing_bytes = 0
        self._has_advanced = False
        self._patience: TimerHandle | None = None
        self._unread = Unread()

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._be_patient()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more, and tell all who answer: uvicorn tells who answers the newest request."""
        self._lose_patience()
        self._unread.end()
        for cycle in self._answered, *(cycle for cycle, _ in self.pipeline):
            if cycle is not None:
                cycle.disconnected = True
                cycle.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came, unless there comes ever more that is no body: the parser keeps it until it is whole."""
        self._has_advanced = False
        super().data_received(_name_known_method(data) if self._due is _Part.NONE else data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        self._framing_bytes = 0 if self._has_advanced else self._framing_bytes + len(data)
        if self._framing_bytes > HEAD_BYTES:
            where = "head" if self._due is _Part.HEAD else "framing"
            self.send_400_response(f"The request's {where} is too long")
        elif self._patience is None and self._owes():
            self._be_patient()

    def on_message_begin(self) -> None:
        """Begin a request, unless too many wait already."""
        if len(self.pipeline) >= AHEAD:
            raise TooManyAhead
        self._lose_patience()
        self._due = _Part.HEAD
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; a trailer is none, though it looks like one (RFC 9110, 6.5.1).

        Nor is one whose name has an underscore: to the application it would be the one with hyphens, which a proxy may
        have seen to.
        """
        if self._due is _Part.HEAD and b"_" not in name:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """End a head; how long a body may be is the application's to say."""
        self._has_advanced = True
        self._due = _Part.BODY
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._has_advanced = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._has_advanced = True
        self._due = _Part.NONE
        self._lose_patience()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request; say so where that can't be taken for the answer to another one."""
        if self._has_no_answer_begun():
            self.transport.write(write_whole_refusal(HTTPStatus.BAD_REQUEST, msg))
        self.transport.close()

    def pause_writing(self) -> None:
        """Keep answers back until those before are taken."""
        super().pause_writing()
        self._unread.begin(self.transport)

    def resume_writing(self) -> None:
        """Go on: enough was taken."""
        self._unread.end()
        super().resume_writing()

    def shutdown(self) -> None:
        """Finish what is being answered; a stream of events, which has no end of its own, is closed."""
        super().shutdown()
        if self.scope is not None and order_stream.PATH.fullmatch(self.scope["path"]):
            self.transport.close()

    def _owes(self) -> bool:
        """Whether it is the client's turn: it has begun a request, or may begin one."""
        return self._due is not _Part.NONE or self.cycle is None or self.cycle.response_complete

    def _has_no_answer_begun(self) -> bool:
        if self.cycle is None or self._due is not _Part.BODY:
            return self.cycle is None or self.cycle.response_complete
        return not (self.cycle.response_started or self.pipeline)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def _be_patient(self) -> None:
        self._patience = self.loop.call_later(WHOLE_S, self._end_patience)

    def _lose_patience(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _end_patience(self) -> None:
        self._patience = None
        if self.flow.read_paused:
            self._be_patient()  # it is not the client who keeps it waiting
        elif self._owes():
            self.transport.close()


def _name_known_method(data: bytes) -> bytes:
    """Return the begin of a request with a method that the parser knows, where it names another.

    The parser would refuse it as no HTTP. So the application answers, which takes neither: 405, with what it takes.
    """
    named = _REQUEST.match(data)
    return NOT_TAKEN + data[named.end() :] if named and named[0] not in METHODS else data
