"""The proxy of our own does to connections what it is told, and the same again with the same seed."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.fault_proxy import HALF_OPEN, NONE, REFUSED, SILENT, Fault, FaultProxy, fault_proxy

SOON_S = 0.2
"""Within which loopback would have answered long ago."""


@pytest.fixture(scope="module")
def echo() -> Iterator[int]:
    """Port of a server that says everything back."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve_one(connection: socket.socket) -> None:
        with connection:
            try:
                while taken := connection.recv(65_536):
                    connection.sendall(taken)
            except OSError:
                return

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve_one, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=serve)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@pytest.fixture
def proxy(echo: int) -> Iterator[FaultProxy]:
    with fault_proxy(("127.0.0.1", echo)) as made:
        yield made


@contextmanager
def connection(proxy: FaultProxy, timeout_s: float = 10) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", proxy.port), timeout_s) as made:
        yield made


def ask(made: socket.socket, words: bytes) -> bytes:
    made.sendall(words)
    return read(made, len(words))


def read(made: socket.socket, count: int) -> bytes:
    taken = b""
    while len(taken) < count and (piece := made.recv(count - len(taken))):
        taken += piece
    return taken


def test_without_a_fault_it_passes_everything_on(proxy: FaultProxy) -> None:
    words = bytes(range(256)) * 4096
    with connection(proxy) as made:
        sender = threading.Thread(target=made.sendall, args=(words,))
        sender.start()
        assert read(made, len(words)) == words
        sender.join()
        made.shutdown(socket.SHUT_WR)
        assert made.recv(1) == b""


def test_a_delay_holds_for_connections_that_are_open(proxy: FaultProxy) -> None:
    with connection(proxy) as made:
        ask(made, b"before")
        proxy.behave(Fault(delay_s=SOON_S))
        began = time.monotonic()
        assert ask(made, b"after") == b"after"
        assert time.monotonic() - began >= 2 * SOON_S  # there and back


def test_a_cut_is_a_reset_for_both_sides(proxy: FaultProxy) -> None:
    with connection(proxy) as made:
        ask(made, b"before")
        assert proxy.cut() == 1
        with pytest.raises(ConnectionResetError):
            made.recv(1)
    with connection(proxy) as again:
        assert ask(again, b"after") == b"after"


def test_a_refused_connection_is_reset(proxy: FaultProxy) -> None:
    proxy.behave(REFUSED)
    assert is_reset(proxy)
    proxy.behave(NONE)
    assert not is_reset(proxy)


def is_reset(proxy: FaultProxy) -> bool:
    """Whether a new connection is reset, rather than answered or ended."""
    try:
        with connection(proxy) as made:
            assert ask(made, b"anybody there?") == b"anybody there?"
    except (ConnectionResetError, BrokenPipeError):
        return True
    return False


@pytest.mark.parametrize("fault", [SILENT, HALF_OPEN])
def test_what_is_stopped_comes_once_it_may(proxy: FaultProxy, fault: Fault) -> None:
    proxy.behave(fault)
    with connection(proxy) as made:
        made.sendall(b"anybody there?")
        made.settimeout(SOON_S)
        with pytest.raises(TimeoutError):
            made.recv(1)
        made.settimeout(10)
        proxy.behave(NONE)
        assert read(made, 14) == b"anybody there?"


def test_bytes_drip(proxy: FaultProxy) -> None:
    proxy.behave(Fault(piece_bytes=1, delay_s=0.01))
    with connection(proxy) as made:
        began = time.monotonic()
        assert ask(made, bytes(20)) == bytes(20)
        assert time.monotonic() - began >= 20 * 0.01


def test_dice_fall_alike_for_the_same_seed(echo: int) -> None:
    first, second, other = (throw(echo, seed) for seed in (7, 7, 8))
    assert first == second != other
    assert 0 < sum(first) < len(first)


def throw(echo: int, seed: int) -> list[bool]:
    """Say which of twenty connections survive a kilobyte."""
    survived = []
    with fault_proxy(("127.0.0.1", echo), seed) as proxy:
        proxy.behave(Fault(cut_share=0.5, cut_after_bytes=400))
        for _ in range(20):
            with connection(proxy) as made:
                try:
                    survived.append(len(ask(made, bytes(1024))) == 1024)
                except ConnectionResetError:
                    survived.append(False)
    return survived


def test_a_target_that_is_not_there_is_a_reset() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with fault_proxy(("127.0.0.1", port)) as proxy:
        assert is_reset(proxy)
