"""What one connection, without a key, can make the server keep: little, and not for long."""

from __future__ import annotations

import base64
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from flask import Flask
from websockets.sync.client import connect

from api.serving import connections
from tests.support.stream import PATH, QUICK, ask, check_end, served

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""Nothing here depends on the database."""

MANY = 32 * 2**20
"""More bytes than the buffers of both sides hold."""
PATIENCE_S = 60
CHUNKED = b"POST /v1/routes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
UPGRADE = b"Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
SOCKET_KEY = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
PING = bytes((0x89, 0x80 | 125)) + bytes(4) + b"p" * 125
PONG = bytes((0x8A, 125)) + b"p" * 125
EMPTY_BEGIN, EMPTY_FRAGMENT = bytes((0x01, 0x80)) + bytes(4), bytes((0x00, 0x80)) + bytes(4)


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    """`host:port` of a running server."""
    with served(app) as name:
        yield name


@contextmanager
def dial(address: str, *parts: bytes) -> Iterator[socket.socket]:
    """Open a connection with a small buffer and send `parts`."""
    host, _, port = address.partition(":")
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(PATIENCE_S)
        line.connect((host, int(port)))
        line.sendall(b"".join(parts))
        yield line


@contextmanager
def dial_stream(address: str) -> Iterator[socket.socket]:
    """Open the websocket of routes by hand."""
    key = base64.b64encode(os.urandom(16))
    upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key
    with dial(address, b"GET ", PATH.encode(), b" HTTP/1.1\r\nHost: x\r\n", upgrade, b"\r\n\r\n") as line:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += line.recv(1)
        assert head.startswith(b"HTTP/1.1 101 ")
        yield line


def read_to_end(line: socket.socket) -> bytes:
    """Read until the server ends the connection."""
    found = b""
    with suppress(ConnectionError):
        while part := line.recv(65_536):
            found += part
    return found


def is_cut_off(line: socket.socket, piece: bytes) -> bool:
    """Send `piece` again and again; return whether the server ends that."""
    try:
        for _ in range(MANY // len(piece)):
            line.sendall(piece)
    except ConnectionError:
        return True
    return False


def encode_in_chunks(body: bytes, size: int) -> bytes:
    """Write a body in chunks, without its end."""
    parts = (body[at : at + size] for at in range(0, len(body), size))
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (b"2\r\n{}\r\n0\r\n", b"a: b\r\n" * 10_000),
        (b"2\r\n{}\r\n0\r\na: ", b"x" * 65_536),
        (b"2\r\n{}\r\n2;a=", b"x" * 65_536),
        (b"0" * 10, b"0" * 65_536),
    ],
    ids=["trailers", "one trailer", "extension", "size"],
)
def test_what_frames_a_body_ends(address: str, begin: bytes, piece: bytes) -> None:
    with dial(address, CHUNKED, b"\r\n", begin) as line:
        assert is_cut_off(line, piece)


def read_refusal(answer: bytes) -> tuple[int, dict[str, Any]]:
    """Return status and body of an answer, which has to be a refusal as the interface has it."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status, lines = int(head.split()[1]), head.lower().split(b"\r\n")
    assert b"content-type: application/json" in lines
    assert any(line.startswith(b"x-request-id: req_") for line in lines)
    told: dict[str, Any] = json.loads(body)
    assert told.keys() == {"message", "code", "error"}
    assert told["code"] == str(status)
    return status, told


@pytest.mark.rule("errors.1", "errors.11")
@pytest.mark.parametrize(
    ("request_", "status", "word"),
    [
        (b"no request\r\n\r\n", 400, "Invalid HTTP request"),
        (b"BREW coffee HTTP/1.1\r\nHost: x\r\n\r\n", 400, "Invalid HTTP request"),
        (b"GET /api/v1/payment HTTP/1.1\r\n" + UPGRADE + SOCKET_KEY + b"\r\n\r\n", 404, "nothing at this address"),
        (b"GET /payment/po_1/events HTTP/1.1\r\n" + UPGRADE + SOCKET_KEY + b"\r\n\r\n", 404, "nothing at this"),
        (b"GET /v1/routes/stream HTTP/1.1\r\n" + UPGRADE + b"\r\n", 400, "missing Sec-WebSocket-Key"),
        (b"GET /v1/routes/stream HTTP/1.1\r\n" + UPGRADE.replace(b"13", b"8") + SOCKET_KEY + b"\r\n\r\n", 400, "8"),
    ],
)
def test_what_no_application_sees_is_refused_with_the_error_body(
    address: str, request_: bytes, status: int, word: str
) -> None:
    with dial(address, request_) as line:
        refused, told = read_refusal(read_to_end(line))
    assert refused == status
    assert word in told["message"]


@pytest.mark.rule("errors.1", "errors.11")
@pytest.mark.parametrize("method", ["BREW", "get", "PROPFIND", "TRACE"])
def test_a_method_that_no_address_takes_is_told_with_what_is_taken(address: str, method: str) -> None:
    """Also one that the parser does not know, which it calls no HTTP at all."""
    requests = [f"{method} {path} HTTP/1.1\r\nHost: x\r\n" for path in ("/v1/tokens", "/v1/routes/stream", "/api/v1/x")]
    for asked, status, allowed in zip(requests, (405, 405, 404), (b"\nallow: ", b"\nallow: ", b""), strict=True):
        with dial(address, asked.encode(), b"Content-Length: 2\r\nConnection: close\r\n\r\n{}") as line:
            answer = read_to_end(line)
        assert read_refusal(answer)[0] == status
        assert allowed in answer.lower()


@pytest.mark.parametrize(
    ("method", "more"),
    [
        (b"POST", b"Content-Length: 0\r\n"),
        (b"GET", b"Content-Length: 2\r\n"),
        (b"GET", b"Transfer-Encoding: chunked\r\n"),
        (b"GET", b"A: b\r\n" * 200),
        (b"GET", b"A: " + b"b" * 9_000 + b"\r\n"),
    ],
    ids=["method", "body", "chunks", "many headers", "long header"],
)
def test_what_opens_no_socket_is_hung_up_on(address: str, method: bytes, more: bytes) -> None:
    head = method + b" /v1/routes/stream HTTP/1.1\r\n" + UPGRADE + SOCKET_KEY + b"\r\n" + more + b"\r\n"
    with dial(address, head) as line:
        refused, told = read_refusal(read_to_end(line))
    assert refused == 400
    assert "No socket can be opened" in told["message"]


def test_what_frames_a_body_is_refused_in_words(address: str) -> None:
    with dial(address, CHUNKED, b"\r\n2\r\n{}\r\n0\r\n") as line:
        assert is_cut_off(line, b"a: b\r\n" * 1_000)
        assert read_to_end(line).startswith(b"HTTP/1.1 400 ")


def test_legal_chunks_trailers_and_requests_behind_each_other_are_taken(address: str) -> None:
    body = b'{"a":"' + b"x" * 50_000 + b'"}'
    small, large = encode_in_chunks(body, 1), encode_in_chunks(body, 9_000)
    end = b"0;last=1\r\nX-Checksum: 7\r\n\r\n"
    head = CHUNKED + b"\r\n"
    requests = head + small + end + head + large + end + GET * 3
    with dial(address, requests, CHUNKED) as line:
        line.sendall(b"Connection: close\r\n\r\n" + small + end)
        answers = read_to_end(line)
    assert answers.count(b"HTTP/1.1 400 ") == 3
    assert answers.count(b"Invalid request data") == 3
    assert answers.count(b"HTTP/1.1 200 ") == 3


def test_what_can_be_framed_in_two_ways_is_refused(address: str) -> None:
    """A proxy in front may take the other one: what is a body to it would be a customer's next request here."""
    post = CHUNKED[: CHUNKED.index(b"Transfer-Encoding")]
    chunked, end = b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n"
    length = b"Content-Length: %d\r\n" % (len(end) + len(GET))
    heads = (
        *(length + chunked, chunked + length, length.replace(b": ", b" : ") + chunked),
        *(b"Content-Length: 5\r\n" + length, b"Content-Length: 5, 5\r\n", b"Content-Length: +5\r\n"),
        *(b"Content-Length: 0x5\r\n", b"Transfer-Encoding : chunked\r\n" + length),
        *(b"Transfer-Encoding: \x0bchunked\r\n" + length, b"Transfer-Encoding:\r\n chunked\r\n" + length),
        *(b"Transfer-Encoding: chunked, identity\r\n", b"Transfer-Encoding: xchunked\r\n", b"X: a\rb\r\n" + chunked),
        *(b"X: a\x00b\r\n" + chunked, (b"X: y\n" + chunked).replace(b"\r\n", b"\n")),
    )
    sizes = (b"0x0\r\n\r\n", b"0 \r\n\r\n", b"0\n\n", b"2;\n{}\r\n0\r\n\r\n", b"10000000000000000\r\n\r\n")
    whole = (*(post + head + b"\r\n" + end for head in heads), *(CHUNKED + b"\r\n" + size for size in sizes))
    for each in (*whole, post.replace(b"/1.1", b"/1.0") + chunked + b"\r\n" + end):
        with dial(address, each, GET) as line:
            answers = read_to_end(line)
        assert (answers.count(b"HTTP/1.1 400 "), answers.count(b"HTTP/1.1 ")) == (1, 1), each


def test_a_trailer_is_no_header(address: str) -> None:
    body = encode_in_chunks(b"{}", 2) + b"0\r\nX-Api-Key: nobodys\r\n\r\n"
    with dial(address, CHUNKED, b"Connection: close\r\n\r\n", body) as line:
        assert read_to_end(line).startswith(b"HTTP/1.1 400 ")  # and not 401


def test_a_header_with_an_underscore_is_not_the_one_with_hyphens(address: str) -> None:
    """Found: a key in `X_Api_Key` was taken, whatever a proxy does with those in `X-Api-Key`."""
    head = GET.replace(b"\r\n\r\n", b"\r\nX_Api_Key: nobodys\r\nConnection: close\r\n\r\n")
    with dial(address, head.replace(b"GET /healthz", b"GET /v1/tokens")) as line:
        assert read_to_end(line).startswith(b"HTTP/1.1 200 ")  # and not 401


def test_a_refusal_is_not_taken_for_another_requests_answer(address: str) -> None:
    question = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    with dial(address, question, b"no request\r\n\r\n") as line:
        answer = read_to_end(line)
    assert b"Invalid HTTP request" not in answer


def test_who_sends_no_whole_request_is_hung_up_on(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with connect(f"ws://{address}{PATH}") as stream:
        monkeypatch.setattr(connections, "WHOLE_S", 0.2)
        for sent in b"", b"\r\n", b"GET / HTTP/1.1\r\nHost: x", CHUNKED + b"\r\n2\r\n{", GET + b"GET / HT":
            with dial(address, sent) as line:
                read_to_end(line)
        with dial(address, GET) as line:
            assert line.recv(65_536).startswith(b"HTTP/1.1 200 ")
            line.sendall(b"\r\n")  # ends the wait for a next request, and begins none
            read_to_end(line)
        with connect(f"ws://{address}{PATH}") as late:
            with dial(address) as line:
                read_to_end(line)
            check_end(ask(late, QUICK))
        check_end(ask(stream, QUICK))


def test_so_many_requests_are_sent_ahead_and_no_more(address: str) -> None:
    few = connections.AHEAD
    with dial(address, GET * few, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") as line:
        assert read_to_end(line).count(b"HTTP/1.1 200 ") == few + 1
    with dial(address) as line:
        assert is_cut_off(line, GET * 4_000)


def test_who_takes_no_answer_is_hung_up_on(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "TAKE_S", 0.2)
    question = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    with dial(address, question * (connections.AHEAD - 1)) as line:
        assert is_cut_off(line, b"GET / HTTP/1.1\r\nX: ")  # nobody reads that: too many answers wait


def test_pings_are_read_as_their_pongs_are(address: str) -> None:
    pings = PING * 500
    with dial_stream(address) as line:
        line.settimeout(2)
        sent = 0
        with suppress(TimeoutError):
            while sent < MANY:
                sent += line.send(pings[sent % len(PING) :])
        assert sent < MANY
        line.settimeout(PATIENCE_S)
        with line.makefile("rb") as pongs:
            assert all(pongs.read(len(PONG)) == PONG for _ in range(sent // len(PING)))


def test_who_takes_no_pong_is_hung_up_on(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "TAKE_S", 0.2)
    with dial_stream(address) as line:
        assert is_cut_off(line, PING * 500)


def test_a_message_of_empty_pieces_ends(address: str) -> None:
    with dial_stream(address) as line:
        line.sendall(EMPTY_BEGIN)
        assert is_cut_off(line, EMPTY_FRAGMENT * 10_000)


def test_a_message_in_pieces_is_taken(address: str) -> None:
    with connect(f"ws://{address}{PATH}") as stream:
        stream.send(iter("{" + " " * 900 + "}"))
        assert '"400"' in stream.recv(timeout=PATIENCE_S)
