"""What a hostile receiver or name server can do to the client."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from pathlib import Path

import pytest

from adapters.http import bounded
from adapters.http.deadline import Deadline
from api.net import client
from api.net.addresses import Reach
from api.net.client import HttpReply, SafeClient
from api.net.resolver import ResolutionFailed, SystemResolver
from tests.support.receiver import CERTIFICATE, OK, StaticResolver, receiver

PUBLIC, LOCAL = Reach(), Reach(local=True)


def post(url: str, reach: Reach = LOCAL, headers: Mapping[str, str] | None = None, **options: object) -> HttpReply:
    return SafeClient(**options).post(url, b"{}", headers or {}, reach)


def test_what_is_sent() -> None:
    with receiver() as (port, heads):
        reply = post(
            f"http://shop.test:{port}/hook?x=1",
            headers={"webhook-id": "evt_1"},
            resolver=StaticResolver(("127.0.0.1",)),
        )
    assert reply.status == 200
    assert reply.excerpt == "ok"
    assert reply.error is None
    (head,) = heads
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /hook?x=1 HTTP/1.1"
    assert {f"Host: shop.test:{port}", "webhook-id: evt_1", "Content-Length: 2"} <= set(lines)
    assert head.endswith(b"\r\n\r\n{}")


@pytest.mark.rule("input.14")
def test_the_name_is_looked_up_once_and_rebinding_gains_nothing() -> None:
    resolver = StaticResolver(("127.0.0.1",), ("127.0.0.9",))
    with receiver() as (port, heads):
        assert post(f"http://rebind.test:{port}/", resolver=resolver).status == 200
    assert resolver.asked == ["rebind.test"]
    assert len(heads) == 1


@pytest.mark.rule("input.14")
@pytest.mark.parametrize("answers", [("127.0.0.1",), ("93.184.216.34", "10.0.0.1"), ("::1", "2606:4700::1111")])
def test_one_forbidden_address_is_enough_to_refuse(answers: tuple[str, ...]) -> None:
    reply = post("https://shop.test/", PUBLIC, resolver=StaticResolver(answers))
    assert reply.status is None
    assert "is not a public address" in str(reply.error)


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    with receiver() as (port, heads):
        assert post(f"http://shop.test:{port}/", resolver=StaticResolver(("::1", "127.0.0.1"))).status == 200
    assert len(heads) == 1


@pytest.mark.rule("deliveries.8")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with receiver() as (target, reached):
        head = f"HTTP/1.1 {status} Moved\r\nLocation: http://127.0.0.1:{target}/\r\nContent-Length: 0\r\n\r\n"
        with receiver(head.encode()) as (port, heads):
            assert post(f"http://127.0.0.1:{port}/").status == status
    assert len(heads) == 1
    assert reached == []


def test_the_environments_proxies_and_passwords_are_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with receiver() as (proxy, proxied):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        with receiver() as (port, heads):
            assert post(f"http://127.0.0.1:{port}/").status == 200
    assert proxied == []
    assert b"authorization" not in heads[0].lower()


def test_tls_is_checked_against_the_name_and_not_the_address() -> None:
    resolver = StaticResolver(("127.0.0.1",))
    with receiver(tls=True) as (port, heads):
        url = f"https://hooks.test:{port}/"
        assert post(url, resolver=resolver, ca_bundle=str(CERTIFICATE)).status == 200
        assert post(f"https://127.0.0.1:{port}/", ca_bundle=str(CERTIFICATE)).status == 200
        for other in (
            post(f"https://other.test:{port}/", resolver=resolver, ca_bundle=str(CERTIFICATE)),
            post(url, resolver=resolver),
        ):
            assert other.status is None
            assert "certificate" in str(other.error)
    assert [head.split(b"\r\n")[0] for head in heads if head] == [b"POST / HTTP/1.1"] * 2


def test_only_the_beginning_of_a_large_answer_is_read() -> None:
    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with receiver(flood) as (port, _):
        reply = post(f"http://127.0.0.1:{port}/")
    assert reply.status == 200
    assert len(reply.excerpt) == 4096


def test_a_compressed_bomb_stays_compressed() -> None:
    body = b"\x1f\x8b\x08\x00" + b"\x00" * 20
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 24\r\n\r\n"
    with receiver(head + body) as (port, _):
        reply = post(f"http://127.0.0.1:{port}/")
    assert reply.status == 200
    assert "\x00" not in reply.excerpt


def drip(prefix: bytes, byte: bytes) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        connection.sendall(prefix)
        gone = threading.Event()
        while not gone.wait(0.02):
            connection.sendall(byte)

    return answer


@pytest.mark.rule("deliveries.7")
@pytest.mark.parametrize(
    ("prefix", "byte", "status"),
    [
        (b"", b"H", None),
        (b"HTTP/1.1 200 OK\r\nX: ", b"y", None),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", None),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n", None),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"z", 200),
    ],
    ids=["status line", "header", "headers", "interim answers", "body"],
)
def test_a_receiver_that_drips_is_cut_off(prefix: bytes, byte: bytes, status: int | None) -> None:
    with receiver(drip(prefix, byte)) as (port, _):
        reply = post(f"http://127.0.0.1:{port}/", timeout_s=0.3)
    assert reply.status == status
    assert 250 <= reply.duration_ms < 2_000
    assert status or reply.error in {"No complete answer within 0.3 s", "The connection broke before an answer came"}


def flood(*parts: bytes) -> Callable[[socket.socket], None]:
    """Send the first parts once and the last one without end."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(b"".join(parts[:-1]))
        while True:
            connection.sendall(parts[-1] * max(1, 65_536 // len(parts[-1])))

    return answer


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.rule("deliveries.7")
@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ((b"HTTP/1.1 100 Continue\r\n\r\n",), None),
        ((b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n",), None),
        ((b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000, OK), None),
        ((b"HTTP/1.1 200 OK\r\n", b"X: " + b"y" * 65_000 + b"\r\n"), None),
        ((CHUNKED, b"1;" + b"x" * 60_000 + b"\r\ny\r\n"), 200),
        ((CHUNKED, b"2\r\nok\r\n0\r\n", b"X: y\r\n"), 200),
    ],
    ids=["interim", "interim with headers", "interim and an answer", "long headers", "extensions", "trailers"],
)
def test_an_answer_that_goes_on_is_left_long_before_its_time_is_up(
    parts: tuple[bytes, ...], status: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []

    class Counted(bounded.BoundedReader):
        def readinto(self, buffer: bytearray) -> int | None:
            taken.append(super().readinto(buffer) or 0)
            return taken[-1]

    monkeypatch.setattr(bounded, "BoundedReader", Counted)
    with receiver(flood(*parts)) as (port, _):
        reply = post(f"http://127.0.0.1:{port}/")
    assert reply.status == status
    assert sum(taken) <= bounded.MAX_HEAD_BYTES
    assert reply.error == (None if status else "The answer's head is too long: more than 65536 bytes")


def test_a_few_interim_answers_are_passed_over() -> None:
    with receiver(b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + OK) as (port, _):
        reply = post(f"http://127.0.0.1:{port}/")
    assert (reply.status, reply.excerpt) == (200, "ok")


def test_a_handshake_that_drips_is_cut_off() -> None:
    with receiver(drip(b"\x16\x03\x03\x3f\xff", b"\x00")) as (port, _):
        reply = post(f"https://127.0.0.1:{port}/", timeout_s=0.3)
    assert reply.status is None
    assert reply.duration_ms < 2_000


@pytest.mark.parametrize(
    "answer", [b"", b"\x00\xff garbage", b"SSH-2.0-x\r\n", b"HTTP/1.1 99999 x\r\n\r\n", b"HTTP/1.1 200 OK\r\n" * 2]
)
def test_an_answer_that_is_not_http_is_a_failure(answer: bytes) -> None:
    with receiver(answer) as (port, _):
        reply = post(f"http://127.0.0.1:{port}/", timeout_s=2)
    assert isinstance(reply, HttpReply)
    assert reply.status in {None, 200}


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    reply = post(f"http://127.0.0.1:{port}/")
    assert reply.error == "The connection was not accepted: Connection refused"


def test_a_name_without_address() -> None:
    assert post("https://shop.test/", resolver=StaticResolver(None)).error == "shop.test: no such host"


def test_the_system_resolver_knows_this_machine_and_no_invented_name() -> None:
    resolver = SystemResolver()
    assert ip_address("127.0.0.1") in resolver.resolve("localhost", 5)
    with pytest.raises(ResolutionFailed, match=r"invented\.invalid"):
        resolver.resolve("invented.invalid", 5)


def test_a_name_server_that_is_silent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait(10) and [])
    with pytest.raises(ResolutionFailed, match="in time"):
        SystemResolver().resolve("shop.test", 0.05)
    answered.set()


@pytest.mark.rule("deliveries.7")
def test_a_receiver_has_fifteen_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    class Watched(Deadline):
        def __init__(self, seconds: float) -> None:
            given.append(seconds)
            super().__init__(seconds)

    monkeypatch.setattr(client, "Deadline", Watched)
    with receiver() as (port, _):
        assert post(f"http://127.0.0.1:{port}/").status == 200
    assert given == [15]
