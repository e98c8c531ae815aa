"""A TCP proxy that does on command what networks do by themselves: delays, cuts, silence, and bytes that drip.

It stands between the service and whatever it talks to: PostgreSQL, Redis, an endpoint of a chain, a receiver of
webhooks. A test says how connections fare by `behave`, which holds for those that are open too, and breaks all of them
by `cut`. Where dice decide, they are those of a seed, thrown once for each connection in the order of their coming.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import TypeVar

T = TypeVar("T")
PIECE_BYTES = 65_536
RESET = struct.pack("ii", 1, 0)
"""`SO_LINGER` of no time: closing says RST instead of FIN."""
Target = tuple[str, int] | Path
"""Host and port, or the path of a socket."""


class Way(StrEnum):
    """Which way bytes go."""

    OUT = "from the one who connected"
    BACK = "to the one who connected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """How connections fare.

    Parameters
    ----------
    delay_s : float
        By how much each piece comes later.
    stopped : frozenset of Way
        Ways on which nothing moves, until another fault is set. Both: it is accepted, and nothing ever answers.
    is_refused : bool
        Whether new connections are reset at once.
    piece_bytes : int
        How much is passed on at a time; with a delay that drips.
    cut_share : float
        Share of connections, 0 to 1, that are reset ...
    cut_after_bytes : int
        ... once about so many bytes came back: half to one and a half times as many, by the dice.
    """

    delay_s: float = 0.0
    stopped: frozenset[Way] = frozenset()
    is_refused: bool = False
    piece_bytes: int = PIECE_BYTES
    cut_share: float = 0.0
    cut_after_bytes: int = 0


NONE = Fault()
SILENT = Fault(stopped=frozenset(Way))
HALF_OPEN = Fault(stopped=frozenset({Way.BACK}))
REFUSED = Fault(is_refused=True)


class FaultProxy:
    """A proxy on a port of its own; any thread may command it.

    Parameters
    ----------
    target : tuple or Path
        Where connections go; asked anew for each of them, so a test may point it elsewhere.
    seed : int
        Of the dice.
    """

    def __init__(self, target: Target, seed: int = 7) -> None:
        self.target = target
        self.accepted = 0
        self.port = 0
        self._dice = Random(seed)
        self._fault = NONE
        self._loop = asyncio.new_event_loop()
        self._changed = asyncio.Condition()
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def behave(self, fault: Fault) -> None:
        """Let all connections fare so from now on."""
        self._command(lambda: self._set(fault))

    def cut(self) -> int:
        """Reset every connection that is open; return how many that were."""
        return self._command(self._reset_all)

    def run(self, ready: threading.Event) -> None:
        """Serve until `end`, on the thread that calls."""
        self._loop.run_until_complete(self._serve(ready))
        self._loop.close()

    def end(self) -> None:
        """Cut everything and stop."""
        self.cut()
        self._loop.call_soon_threadsafe(self._stop.set)

    def _command(self, act: Callable[[], T]) -> T:
        async def do() -> T:
            async with self._changed:
                done = act()
                self._changed.notify_all()
                return done

        return asyncio.run_coroutine_threadsafe(do(), self._loop).result(30)

    def _set(self, fault: Fault) -> None:
        self._fault = fault

    def _reset_all(self) -> int:
        count = len(self._tasks)
        for writer in tuple(self._open):
            _reset(writer)
        for task in self._tasks:
            task.cancel()
        return count

    async def _serve(self, ready: threading.Event) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stop.wait()
        server.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        fate = self._dice.random(), self._dice.random()
        if self._fault.is_refused:
            _reset(writer)
            return
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("connections are accepted by tasks")
        self._tasks.add(task)
        self._open.add(writer)
        try:
            await self._join(reader, writer, fate)
        except (OSError, asyncio.CancelledError):
            _reset(writer)
        finally:
            self._open.discard(writer)
            self._tasks.discard(task)

    async def _join(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, fate: tuple[float, float]
    ) -> None:
        """Connect both sides and pass on until one ends."""
        await self._wait_while_stopped(Way.OUT)
        far_reader, far_writer = await _connect(self.target)
        self._open.add(far_writer)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass_on(Way.OUT, reader, far_writer, None))
                both.create_task(self._pass_on(Way.BACK, far_reader, writer, fate))
        except* OSError:
            _reset(writer)
        finally:
            self._open.discard(far_writer)
            _reset(far_writer) if writer.transport.is_closing() else far_writer.close()
        writer.close()

    async def _pass_on(
        self, way: Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, fate: tuple[float, float] | None
    ) -> None:
        passed = 0
        while taken := await reader.read(PIECE_BYTES):
            while taken:
                await self._wait_while_stopped(way)
                fault = self._fault
                if fault.delay_s:
                    await asyncio.sleep(fault.delay_s)
                piece, taken = taken[: fault.piece_bytes], taken[fault.piece_bytes :]
                passed += len(piece)
                if fate and fate[0] < fault.cut_share and passed >= fault.cut_after_bytes * (0.5 + fate[1]):
                    raise ConnectionResetError("cut by the dice")
                writer.write(piece)
                await writer.drain()
        await self._wait_while_stopped(way)
        with suppress(OSError):
            writer.write_eof()

    async def _wait_while_stopped(self, way: Way) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: way not in self._fault.stopped)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection with RST."""
    with suppress(OSError):
        sock = writer.get_extra_info("socket")
        if sock is not None and sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()


async def _connect(target: Target) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if isinstance(target, Path):
        return await asyncio.open_unix_connection(target)
    return await asyncio.open_connection(*target)


@contextmanager
def fault_proxy(target: Target, seed: int = 7) -> Iterator[FaultProxy]:
    """Run a proxy on loopback until the block ends."""
    proxy, ready = FaultProxy(target, seed), threading.Event()
    thread = threading.Thread(target=proxy.run, args=(ready,), name="fault-proxy")
    thread.start()
    try:
        if not ready.wait(30):
            raise TimeoutError("the proxy did not begin to listen within 30 s")
        yield proxy
    finally:
        proxy.end()
        thread.join(30)
