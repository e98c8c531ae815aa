"""Whether `checkout doctor` reaches the service at its address, and vendors their webhooks."""

from __future__ import annotations

import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from click import ClickException
from pytest_httpserver import HTTPServer

from api.cli.http import ServiceClient
from api.services.operations.doctor.reach import check_reach
from api.services.resources import Resources
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.doctor import list_bad
from tests.support.webhooks import Desk


def test_a_receiver_that_takes_nothing_is_named_without_its_address(
    desk: Desk, resources: Resources, clock: SettableClock, merchant: Merchant, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/healthz").respond_with_data("ok")
    here = replace(resources, config=replace(resources.config, base_url=f"http://127.0.0.1:{httpserver.port}"))
    hook = desk.subscribe(merchant, url="https://shop.example/SECRET")
    for status in (200, 500, 500, 500):
        assert list_bad(check_reach(here)) == {}, status
        desk.transport.always(status=status)
        desk.publish(merchant)
        desk.work()
        clock.advance(seconds=90)
    ((about, message),) = list_bad(check_reach(here)).items()
    assert about == "warning receivers"
    assert f"{hook['webhook_id']} (shop.example, test, 'Tea & Co'): 3 deliveries since " in message
    assert ", the last: 500 → " in message
    assert "SECRET" not in message
    desk.transport.always(status=200)
    clock.advance(minutes=10)
    desk.work()
    assert list_bad(check_reach(here)) == {}


def test_an_api_that_does_not_answer_at_its_address_is_said(resources: Resources, httpserver: HTTPServer) -> None:
    base_url = f"http://127.0.0.1:{httpserver.port}"
    there = replace(resources, config=replace(resources.config, base_url=base_url))
    httpserver.expect_request("/healthz").respond_with_data("", 502)
    assert f"answers 502 at {base_url}/healthz" in list_bad(check_reach(there))["warning api"]
    away = replace(resources, config=replace(resources.config, base_url="http://127.0.0.1:9"))
    assert "does not answer at http://127.0.0.1:9 (ConnectionError)" in list_bad(check_reach(away))["warning api"]
    assert f"answers 502 at {base_url}/healthz" in list_bad(check_reach(away, base_url + "/"))["warning api"]


def test_a_certificate_that_is_not_trusted_is_no_dead_service(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem = Path(__file__).parents[2] / "support" / "tls" / "hooks.test.pem"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, pem.with_suffix(".key"))
    with HTTPServer(ssl_context=context) as server:
        base_url = f"https://127.0.0.1:{server.port}"
        there = replace(resources, config=replace(resources.config, base_url=base_url))
        said = list_bad(check_reach(there))["warning api"]
        with pytest.raises(ClickException, match="REQUESTS_CA_BUNDLE"):
            ServiceClient(base_url, "sk_test_x").get("/api/v1/payment")
    assert said.startswith(f"answers at {base_url} with a certificate that this machine does not trust")
    assert "set REQUESTS_CA_BUNDLE" in said
