"""Services on loopback that answer as they are told: well, badly, slowly, or not at all."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Answer = bytes | Callable[[socket.socket], None]


def reply(body: object, status: str = "200 OK", **headers: str) -> bytes:
    """Return a whole answer; a body that is not text is sent as JSON."""
    raw = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(raw)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + raw


def hang(connection: socket.socket) -> None:
    """Say nothing until the other side has had enough."""
    connection.recv(1)


def drip(start: bytes, drop: bytes = b"x") -> Callable[[socket.socket], None]:
    """Answer with `start`, then with one byte at a time for ever, quicker than any wait between bytes."""

    def send(connection: socket.socket) -> None:
        connection.sendall(start)
        connection.settimeout(0.02)
        while True:
            connection.sendall(drop)
            with suppress(TimeoutError):
                if not connection.recv(1):
                    return

    return send


def flood(chunks: int) -> Callable[[socket.socket], None]:
    """Answer with a body of `chunks` MiB whose length is not announced."""

    def send(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        for _ in range(chunks):
            connection.sendall(b" " * 2**20)

    return send


@dataclass(slots=True)
class Venue:
    """A running service: its address, and the requests that came, head and body."""

    url: str
    asked: list[bytes] = field(default_factory=list)
    connections: int = 0


@contextmanager
def venue(*answers: Answer, choose: Callable[[bytes], Answer] | None = None) -> Iterator[Venue]:
    """Serve each request with the next of `answers`, the last one for ever, or with what `choose` gives for it.

    Connections are kept open.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    running = Venue(f"http://127.0.0.1:{listener.getsockname()[1]}")
    left, lock, threads = list(answers), threading.Lock(), []
    opened: list[socket.socket] = []

    def following(request: bytes) -> Answer:
        if choose is not None:
            return choose(request)
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    def converse(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while request := _read_request(connection):
                running.asked.append(request)
                answer = following(request)
                if callable(answer):
                    answer(connection)
                    return
                connection.sendall(answer)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            running.connections += 1
            opened.append(connection)
            threads.append(threading.Thread(target=converse, args=(connection,)))
            threads[-1].start()

    acceptor = threading.Thread(target=accept)
    acceptor.start()
    try:
        yield running
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        acceptor.join()
        for connection in opened:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()


def _read_request(connection: socket.socket) -> bytes:
    taken = b""
    while b"\r\n\r\n" not in taken:
        part = connection.recv(65536)
        if not part:
            return b""
        taken += part
    head, _, body = taken.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
