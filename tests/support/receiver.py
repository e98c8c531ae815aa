"""Receivers of webhooks that behave badly, and name servers that lie."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

from api.net.addresses import IpAddress
from api.net.resolver import ResolutionFailed

CERTIFICATE = Path(__file__).parent / "tls" / "hooks.test.pem"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class StaticResolver:
    """Answers each question with the next of its answers, the last one for ever; `None` is no answer."""

    def __init__(self, *answers: tuple[str, ...] | None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def resolve(self, host: str, timeout_s: float) -> tuple[IpAddress, ...]:
        self.asked.append(host)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            raise ResolutionFailed(f"{host}: no such host")
        return tuple(ip_address(text) for text in answer)


@contextmanager
def receiver(
    answer: bytes | Callable[[socket.socket], None] = OK, *, tls: bool = False, address: str = "127.0.0.1"
) -> Iterator[tuple[int, list[bytes]]]:
    """Accept connections; give the port and what each one sent."""
    heads: list[bytes] = []
    listener = socket.create_server((address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, CERTIFICATE.with_suffix(".key"))

    def serve() -> None:
        while True:
            try:
                accepted, _ = listener.accept()
            except OSError:
                return
            try:
                with context.wrap_socket(accepted, server_side=True) if tls else accepted as connection:
                    heads.append(read_request(connection))
                    if callable(answer):
                        answer(connection)
                    else:
                        connection.sendall(answer)
            except OSError:
                heads.append(b"")

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1], heads
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def read_request(connection: socket.socket) -> bytes:
    taken = b""
    while not taken.endswith(b"\r\n\r\n{}"):
        part = connection.recv(65536)
        if not part:
            break
        taken += part
    return taken
