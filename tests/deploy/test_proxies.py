"""nginx and Caddy before the service, each with the file that operators begin with."""

from __future__ import annotations

import http.client
import json
import ssl
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import connect

from tests.deploy.conftest import KEYLESS, TOKEN, Site
from tests.deploy.files import NGINX, USER, read, replace_all
from tests.support.running import find_free_port
from tests.support.servers import answers, get_program, run_server

pytestmark = pytest.mark.xdist_group("deploy")
BODY = {
    "fromChainId": 1,
    "toChainId": 10,
    "fromToken": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    "toToken": "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85",
    "inputAmount": "1000000000",
}
LINK = {
    "line_items": [{"title": "Tea", "quantity": 1}],
    "order_price": {"currency": "USDC", "amount": 25_000_000, "decimals": 6},
    "env_mode": "test",
    **{f"{name}_callback_url": "http://localhost:3000/" for name in ("success", "cancel", "failure")},
}
PROXIES = ("nginx", "caddy")


@cache
def make_trusting() -> ssl.SSLContext:
    """The certificate of the tests has another name; who is spoken to is known."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def open_connection(url: str, source: str = "127.0.0.1") -> http.client.HTTPConnection:
    place = urlsplit(url)
    given = {"timeout": 120, "source_address": (source, 0)}
    if place.scheme == "https":
        return http.client.HTTPSConnection(place.hostname or "", place.port, context=make_trusting(), **given)
    return http.client.HTTPConnection(place.hostname or "", place.port, **given)


def ask(
    url: str, method: str, path: str, body: bytes | None = None, source: str = "127.0.0.1", **headers: str
) -> tuple[int, bytes]:
    connection = open_connection(url, source)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.fixture(params=PROXIES)
def proxy(request: pytest.FixtureRequest, site: Site) -> str:
    return str(getattr(site, request.param))


@pytest.fixture
def order(site: Site) -> str:
    sent = json.dumps(LINK).encode()
    status, body = ask(
        site.service.url,
        "POST",
        "/api/v1/payment_link",
        sent,
        X_Api_Key=site.service.key,
        Content_Type="application/json",
    )
    assert status == 200, body
    return str(json.loads(body)["payment_order_id"])


def test_pages_and_requests_pass(site: Site, proxy: str, order: str) -> None:
    status, page = ask(proxy, "GET", f"/payment/{order}")
    assert status == 200
    assert b"<html" in page
    status, body = ask(proxy, "GET", f"/api/v1/payment/{order}", X_Api_Key=site.service.key)
    assert status == 200
    assert json.loads(body)["payment_order_id"] == order


def test_events_of_an_order_leave_as_they_come(proxy: str, site: Site, order: str) -> None:
    connection = open_connection(proxy)
    connection.request("GET", f"/payment/{order}/events", headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    first = answer.read1(65_536)
    assert first, "the first event, of a few bytes, while the stream stays open"
    sent = json.dumps({"action": "pay"}).encode()
    status, _ = ask(
        site.service.url,
        "POST",
        f"/api/v1/payment/{order}/simulate",
        sent,
        X_Api_Key=site.service.key,
        Content_Type="application/json",
    )
    assert status == 200
    assert answer.read1(65_536), "what happens is told within the time that the connection waits"
    connection.close()


def test_a_websocket_of_routes_passes(proxy: str) -> None:
    address = proxy.replace("http", "ws", 1) + "/v1/routes/stream"
    with connect(address, ssl=make_trusting() if address.startswith("wss") else None) as socket:
        socket.send(json.dumps(BODY))
        kinds = []
        while "done" not in kinds:
            kinds.append(json.loads(socket.recv(timeout=120))["type"])
    assert "route" in kinds


def test_routes_stream_as_events(proxy: str) -> None:
    query = "&".join(f"{name}={value}" for name, value in BODY.items())
    status, body = ask(proxy, "GET", f"/v1/routes/stream?{query}", Accept="text/event-stream", source="127.0.0.9")
    assert status == 200
    assert b"done" in body


def test_each_customer_counts_for_himself_and_nobody_chooses_his_address(
    proxy: str, request: pytest.FixtureRequest
) -> None:
    own, other = (f"127.0.{PROXIES.index(request.node.callspec.params['proxy']) + 1}.{number}" for number in (1, 2))
    told = [
        ask(proxy, "GET", "/v1/tokens?limit=1", source=own, X_Forwarded_For=f"203.0.113.{number}")[0]
        for number in range(KEYLESS + 1)
    ]
    assert told == [200] * KEYLESS + [429]
    assert ask(proxy, "GET", "/v1/tokens?limit=1", source=other)[0] == 200


def test_bodies_have_a_limit(proxy: str, site: Site) -> None:
    headers = {"X_Api_Key": site.service.key, "Content_Type": "application/json"}
    status, body = ask(proxy, "POST", "/api/v1/payment_link", b'"' + b"x" * 70_000 + b'"', **headers)
    assert status == 413
    assert json.loads(body)["code"] == "413", "the service's own answer, which says why"
    status, body = ask(proxy, "POST", "/api/v1/payment_link", b'"' + b"x" * 400_000 + b'"', **headers)
    assert status in {413, 502}
    assert b"payment_order_id" not in body


def test_metrics_are_not_for_the_public(proxy: str, site: Site) -> None:
    assert ask(proxy, "GET", "/metrics", Authorization=f"Bearer {TOKEN}")[0] == 404
    assert ask(site.service.url, "GET", "/metrics", Authorization=f"Bearer {TOKEN}")[0] == 200


def test_plain_http_leads_to_https(site: Site) -> None:
    """Caddy does that by itself."""
    text = (site.service.data_dir.parent / "checkout.conf").read_text()
    port = int(text.partition("listen 127.0.0.1:")[2].partition(";")[0])
    for host in ("pay.example", "evil.example"):  # and to no host that only the caller speaks of
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/payment/po_1", headers={"Host": host})
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Location"]) == (301, "https://pay.example/payment/po_1")
        connection.close()


def test_nginx_answers_for_a_first_certificate_without_having_one(tmp_path: Path) -> None:
    port = find_free_port()
    changes = {
        "listen 80;": f"listen 127.0.0.1:{port};",
        "    listen [::]:80;\n": "",
        "/var/www/acme": f"{tmp_path}/acme",
    }
    (tmp_path / "checkout.conf").write_text(replace_all(read("nginx/acme.conf"), changes))
    (tmp_path / "nginx.conf").write_text(USER + NGINX.format(folder=tmp_path))
    (tmp_path / "acme" / ".well-known" / "acme-challenge").mkdir(parents=True)
    (tmp_path / "acme" / ".well-known" / "acme-challenge" / "x").write_text("proof")
    nginx = [get_program("nginx"), "-e", tmp_path / "error.log", "-c", tmp_path / "nginx.conf"]
    place = f"http://127.0.0.1:{port}"
    with run_server(nginx, tmp_path / "nginx.log", lambda: answers(f"{place}/", 503)):
        assert ask(place, "GET", "/.well-known/acme-challenge/x") == (200, b"proof")
