"""How answers travel: compressed where a browser takes that, files for a year, pages asked for again."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable

import brotli
import pytest
from flask import Flask, Response
from flask.testing import FlaskClient
from werkzeug.http import parse_accept_header

from api.domain.env import EnvMode
from api.services.orders.creation import NewLink, create_link
from api.services.resources import Resources
from api.web.compression import choose_encoding, compress_response
from tests.api.conftest import Merchant
from tests.support.webhooks import SUBSCRIPTIONS

UNPACK: dict[str, Callable[[bytes], bytes]] = {"br": brotli.decompress, "gzip": gzip.decompress}
BROWSER = "gzip, deflate, br, zstd"


@pytest.fixture
def path(resources: Resources, merchant: Merchant) -> str:
    """Path of the page of a new test order."""
    link = NewLink(
        line_items=({"title": "Tea", "quantity": 2},),
        order_price={"currency": "USDC", "amount": 42_500_000, "decimals": 6},
        env_mode=EnvMode.TEST,
        success_callback_url="https://shop.example/done",
        cancel_callback_url="https://shop.example/cart",
        failure_callback_url="https://shop.example/failed",
    )
    return f"/payment/{create_link(resources, merchant.id, link)['payment_order_id']}"


def ask(client: FlaskClient, path: str, accepted: str = BROWSER, method: str = "GET", **headers: str) -> Response:
    return client.open(path, method=method, headers={"Accept-Encoding": accepted, **headers})


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [
        (BROWSER, "br"),
        ("gzip, deflate", "gzip"),
        ("br;q=0.1, gzip;q=0.9", "gzip"),
        ("br;q=0, gzip;q=0", "identity"),
        ("*", "br"),
        ("br;q=0, *", "gzip"),
        ("identity, br;q=0.5", "identity"),
        ("identity", "identity"),
        ("", "identity"),
        ("zstd", "identity"),
    ],
)
def test_the_encoding_is_what_the_client_likes_best(accepted: str, chosen: str) -> None:
    assert choose_encoding(parse_accept_header(accepted)) == chosen


@pytest.mark.parametrize("what", ["", "/status", "/tokens"])
@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_a_compressed_answer_is_the_same_answer(client: FlaskClient, path: str, what: str, encoding: str) -> None:
    plain, packed = ask(client, path + what, "identity"), ask(client, path + what, encoding)
    assert packed.headers["Content-Encoding"] == encoding
    assert "Content-Encoding" not in plain.headers
    assert "Accept-Encoding" in plain.headers["Vary"]
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert int(packed.headers["Content-Length"]) == len(packed.data) < len(plain.data)
    told = re.compile(rb'"now":"[^"]*"')
    assert told.sub(b"", UNPACK[encoding](packed.data)) == told.sub(b"", plain.data)


def test_the_question_for_headers_only_says_how_long_the_answer_is(client: FlaskClient, path: str) -> None:
    whole, head = ask(client, path), ask(client, path, method="HEAD")
    assert head.data == b""
    names = ("Content-Length", "Content-Encoding", "ETag", "Vary", "Cache-Control", "Content-Type")
    assert [head.headers[name] for name in names] == [whole.headers[name] for name in names]


@pytest.mark.parametrize("what", ["", "/tokens"])
def test_what_has_not_changed_is_not_sent_again(client: FlaskClient, path: str, what: str) -> None:
    first = ask(client, path + what)
    assert first.headers["ETag"].startswith('W/"')
    again = ask(client, path + what, **{"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert "Content-Encoding" not in again.headers
    for name in ("ETag", "Vary", "Cache-Control"):
        assert again.headers[name] == first.headers[name]
    if not what:
        for name in ("Content-Security-Policy", "Permissions-Policy", "Cross-Origin-Opener-Policy"):
            assert again.headers[name] == first.headers[name]


def test_a_page_that_has_changed_is_sent(client: FlaskClient, path: str) -> None:
    first = ask(client, path)
    client.post(f"{path}/simulate", json={"action": "expire"})
    again = ask(client, path, **{"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 200
    assert again.headers["ETag"] != first.headers["ETag"]


def test_a_page_says_which_version_it_shows(client: FlaskClient, path: str) -> None:
    """The stream begins with the same, until something happens."""

    def read_both() -> tuple[str, str]:
        shown = re.search(r'"version":"([0-9a-f]{18})"', client.get(path).text)
        told = re.search(r"^id: (\w+)$", client.get(f"{path}/events").text, re.MULTILINE)
        assert shown is not None
        assert told is not None
        return shown[1], told[1]

    before, told = read_both()
    assert before == told
    client.post(f"{path}/simulate", json={"action": "expire"})
    after, told = read_both()
    assert after == told != before


def test_the_code_is_a_drawing_of_the_pages_address(client: FlaskClient, path: str) -> None:
    answer = client.get(f"{path}/code.svg")
    assert (answer.status_code, answer.mimetype) == (200, "image/svg+xml")
    assert answer.text.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert client.get("/payment/po_unknown/code.svg").status_code == 404


def test_an_order_that_is_not_there_is_kept_by_nobody(client: FlaskClient) -> None:
    missing = ask(client, "/payment/po_unknown")
    assert missing.status_code == 404
    assert missing.headers["Cache-Control"] == "no-store"
    assert "ETag" not in missing.headers
    assert b"find this payment" in brotli.decompress(missing.data)


def test_answers_of_the_api_are_not_compressed(client: FlaskClient, merchant: Merchant) -> None:
    """Secrets must not stand beside text of the caller's choice in a compressed answer; the tokens hold neither."""
    body = {"webhook_url": "https://shop.example/hook", "env_mode": "test"}
    headers = {**merchant.headers(), "Accept-Encoding": BROWSER}
    made = client.post(SUBSCRIPTIONS, json=body, headers=headers)
    orders = client.get("/api/v1/payment", headers=headers)
    tokens = ask(client, "/v1/tokens")
    assert made.status_code == orders.status_code == tokens.status_code == 200
    assert len(made.data) > 256
    assert "Content-Encoding" not in made.headers
    assert "Content-Encoding" not in orders.headers
    assert tokens.headers["Content-Encoding"] == "br"
    assert json.loads(brotli.decompress(tokens.data)) == client.get("/v1/tokens").get_json()


STREAM = [f"data: {n}\n\n" for n in range(1000)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Response("short", mimetype="text/plain"),
        lambda: Response(iter(STREAM), mimetype="text/event-stream"),
        lambda: Response(iter(STREAM), mimetype="text/plain"),
        lambda: Response("x" * 1000, mimetype="text/html", headers={"Content-Encoding": "zstd"}),
        lambda: Response(b"x" * 1000, mimetype="image/png"),
        lambda: Response("x" * 1000, 206, mimetype="text/html", headers={"Content-Range": "bytes 0-999/2000"}),
    ],
    ids=["small", "events", "stream", "packed", "picture", "part"],
)
def test_what_gains_nothing_or_flows_is_left_alone(app: Flask, make: Callable[[], Response]) -> None:
    answer = make()
    before = answer.headers.get("Content-Encoding")
    with app.test_request_context("/payment/po_1", headers={"Accept-Encoding": BROWSER}):
        after = compress_response(answer)
    assert after.headers.get("Content-Encoding") == before
    assert after.is_streamed == answer.is_streamed
    assert b"".join(after.iter_encoded()) in {b"short", b"x" * 1000, "".join(STREAM).encode()}


def test_a_file_is_kept_for_a_year(client: FlaskClient, path: str) -> None:
    page = client.get(path).text
    addresses = re.findall(r'"(/static/[^"#]+)', page)
    assert len(addresses) >= 3
    for address in addresses:
        assert re.search(r"\.[0-9a-f]{16}\.\w+$", address), address
        plain, packed = ask(client, address, "identity"), ask(client, address)
        assert plain.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert int(packed.headers["Content-Length"]) == len(packed.data)
        if "Content-Encoding" in packed.headers:
            assert brotli.decompress(packed.data) == plain.data
            assert packed.headers["Vary"] == "Accept-Encoding"
        again = ask(client, address, **{"If-None-Match": plain.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")


@pytest.mark.parametrize(
    "name",
    [
        "payment/main.js",
        "payment/main-en.js",
        "payment/shared/api.js",
        "payment/main-en.0123456789abcdef.js",
        "payment/../payment/main.js",
        "../app.py",
        "..%2f..%2fsetup.cfg",
        "%2fetc/passwd",
        "payment/",
    ],
)
def test_nothing_else_is_served(client: FlaskClient, name: str) -> None:
    assert client.get(f"/static/{name}", follow_redirects=True).status_code == 404


def test_the_page_allows_its_own_style_and_no_other(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    policy = answer.headers["Content-Security-Policy"]
    assert re.search(r"style-src 'self' 'sha256-[\w+/]{43}=';", policy)
    assert "unsafe" not in policy
    assert answer.text.count("<style>") == 1
    assert client.get("/payment/po_unknown").headers["Content-Security-Policy"].count("'sha256-") == 1
