"""The least of an HTTP client: what it spends itself is missing from the machine that it measures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

FAILURES = (OSError, asyncio.IncompleteReadError, TimeoutError)
"""Of a server that is killed, stopped, or not there yet."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer."""

    status: int
    headers: Mapping[bytes, bytes]
    body: bytes


@dataclass
class Server:
    """A server, and the connections to it that are open and idle."""

    port: int
    _idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = field(default_factory=list)

    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"", limit_s: float = 5.0
    ) -> Answer:
        """Send a request and return the answer; raises one of `FAILURES`."""
        async with asyncio.timeout(limit_s):
            reader, writer = await self._connect()
            try:
                writer.write(_write_head(method, path, headers, len(body)) + body)
                status, named = await _read_head(reader)
                answer = Answer(status, named, await reader.readexactly(int(named.get(b"content-length", b"0"))))
            except BaseException:
                writer.transport.abort()
                raise
        if named.get(b"connection") == b"close":
            writer.close()
        else:
            self._idle.append((reader, writer))
        return answer

    async def follow(self, path: str, known: str) -> AsyncIterator[bytes]:
        """Give the lines of a stream of which `known` was heard last, until it ends; raises one of `FAILURES`."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(_write_head("GET", path, {"Accept": "text/event-stream", "Last-Event-ID": known}, 0))
            status, named = await _read_head(reader)
            if status != 200:
                raise ConnectionError(f"{path} answers {status} {dict(named)}")
            while line := await reader.readline():
                yield line
        finally:
            writer.transport.abort()

    def close(self) -> None:
        """Close what is open."""
        for _, writer in self._idle:
            writer.transport.abort()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self._idle:
            reader, writer = self._idle.pop()
            if not (reader.at_eof() or writer.is_closing()):
                return reader, writer
            writer.transport.abort()
        return await asyncio.open_connection("127.0.0.1", self.port)


def _write_head(method: str, path: str, headers: Mapping[str, str], length: int) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {length}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


async def _read_head(reader: asyncio.StreamReader) -> tuple[int, Mapping[bytes, bytes]]:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    pairs = (line.split(b":", 1) for line in lines if line)
    return int(first.split()[1]), {name.strip().lower(): value.strip() for name, value in pairs}
