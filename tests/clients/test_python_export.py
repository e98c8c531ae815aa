"""Files of orders in the Python client: whole lines as they come, and an error where they end too early."""

from __future__ import annotations

import csv
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from threading import Thread

import anyio
import httpx
import pytest
from crosschain_checkout_client import AsyncCheckoutClient, CheckoutClient, Retries, errors

URL = "https://pay.example"
LINES = ['"payment_order_id","metadata"\r\n', '"po_1","ü\u2028\x0b"\r\n', '"po_2","a\n', 'b"\r\n']
FILE = "".join(LINES).encode()
BUSY = {"message": "One at a time", "code": "429", "error": []}


class Pieces(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body of one byte after the other; knows how much of it was read and whether it was closed."""

    def __init__(self) -> None:
        self.read, self.is_closed = 0, False

    def __iter__(self) -> Iterator[bytes]:
        for byte in FILE:
            self.read += 1
            yield bytes([byte])

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for each in self:
            yield each

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.close()


def serve(*answers: httpx.Response) -> httpx.MockTransport:
    left = iter(answers)
    return httpx.MockTransport(lambda _: next(left))


def test_lines_come_whole_and_as_csv() -> None:
    with CheckoutClient(URL, transport=serve(httpx.Response(200, stream=Pieces()))) as client:
        assert list(client.orders.export()) == LINES
    with CheckoutClient(URL, transport=serve(httpx.Response(200, stream=Pieces()))) as client:
        orders = list(csv.DictReader(client.orders.export()))
    assert [order["payment_order_id"] for order in orders] == ["po_1", "po_2"]
    assert orders[1]["metadata"] == "a\nb"


def test_a_line_comes_before_the_file_ends_and_who_closes_it_ends_it() -> None:
    body = Pieces()
    with CheckoutClient(URL, transport=serve(httpx.Response(200, stream=body))) as client:
        lines = client.orders.export()
        assert next(lines) == LINES[0]
        assert body.read < len(FILE)
        assert not body.is_closed
        lines.close()
        assert body.is_closed


def test_it_does_so_awaited() -> None:
    async def read() -> None:
        body, whole = Pieces(), Pieces()
        transport = serve(httpx.Response(200, stream=body), httpx.Response(200, stream=whole))
        async with AsyncCheckoutClient(URL, transport=transport) as client:
            lines = client.orders.export()
            assert await anext(lines) == LINES[0]
            await lines.aclose()
            assert body.is_closed
            assert body.read < len(FILE)
            assert [line async for line in client.orders.export()] == LINES
            assert whole.is_closed

    anyio.run(read)


def test_a_refusal_is_waited_for_and_then_told() -> None:
    busy = httpx.Response(429, json=BUSY, headers={"Retry-After": "0"})
    with CheckoutClient(
        URL, retries=Retries(first_s=0), transport=serve(busy, httpx.Response(200, content=FILE))
    ) as one:
        assert list(one.orders.export()) == LINES
    with CheckoutClient(URL, retries=Retries(most=0), transport=serve(busy)) as other:
        with pytest.raises(errors.TooManyRequests, match="One at a time") as refused:
            list(other.orders.export())
        assert refused.value.retry_after_s == 0


@contextmanager
def cut_off(told: bytes) -> Iterator[str]:
    """Serve an answer once, whose connection then ends."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(told)

        Thread(target=answer, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_file_that_ends_too_early_is_an_error() -> None:
    told = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(FILE), FILE)
    with cut_off(told) as url, CheckoutClient(url) as client:
        lines = client.orders.export()
        assert [next(lines) for _ in LINES] == LINES
        with pytest.raises(errors.ConnectionFailed):
            next(lines)
