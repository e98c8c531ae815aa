"""Streams of orders' news that stay open while something else is measured, as browsers keep them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from benchmarks.load.processes import Server

PER_ADDRESS = 50
"""The service gives one address 60."""
PATIENCE_S = 60


class OpenStreams:
    """Streams of one server.

    Parameters
    ----------
    server : Server
        Where.
    orders : sequence of str
        Whose news; the streams share them.
    count : int
        How many. They come from several loopback addresses, since one address has a limit.
    """

    def __init__(self, server: Server, orders: Sequence[str], count: int) -> None:
        self._server, self._orders, self._count = server, orders, count
        self._writers: list[asyncio.StreamWriter] = []
        self._readers: list[asyncio.Task[None]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def open(self) -> None:
        """Open all; raises RuntimeError where one is refused."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open_all(), self._loop).result(PATIENCE_S)

    def count(self) -> int:
        """Return how many are still open."""
        return sum(not writer.transport.is_closing() for writer in self._writers)

    def close(self) -> None:
        """Close all."""
        asyncio.run_coroutine_threadsafe(self._close_all(), self._loop).result(PATIENCE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _open_all(self) -> None:
        for number in range(self._count):
            await self._open(number)

    async def _close_all(self) -> None:
        for writer in self._writers:
            writer.close()
        await asyncio.gather(*self._readers, return_exceptions=True)

    async def _open(self, number: int) -> None:
        host, port = urlsplit(self._server.url).hostname, urlsplit(self._server.url).port
        source = f"127.0.0.{2 + number // PER_ADDRESS}"
        reader, writer = await asyncio.open_connection(host, port, local_addr=(source, 0))
        path = f"/payment/{self._orders[number % len(self._orders)]}/events"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\r\n".encode())
        status = await reader.readline()
        if b" 200 " not in status:
            raise RuntimeError(f"stream {number} was answered {status!r}")
        self._writers.append(writer)
        self._readers.append(self._loop.create_task(_drain(reader, writer)))


@contextmanager
def open_streams(server: Server, orders: Sequence[str], count: int) -> Iterator[OpenStreams]:
    """Keep streams open until the block ends."""
    streams = OpenStreams(server, orders, count)
    streams.open()
    try:
        yield streams
    finally:
        streams.close()


async def _drain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(65_536):
        pass
    writer.close()
