"""What can wait for the morning but not for ever: refunds that nobody sends, a certificate, memory."""

from __future__ import annotations

import ssl
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pytest_httpserver import HTTPServer
from sqlalchemy import update

from api.app import build_app
from api.domain.short_memory import ShortMemory
from api.services.operations.unsent_refunds import GIVEN_UP_AFTER, SENT_WITHIN
from api.services.resources import Resources
from api.storage.tables import Refund
from tests.api.operation.test_operator_metrics import list_lines
from tests.support.receiver import CERTIFICATE
from tests.support.refunds import paid, refund
from tests.support.shop import Shop

ENDS_AT = datetime(2126, 10, 28, 3, 35, 8, tzinfo=UTC)
"""Of the certificate."""


def test_refunds_that_nobody_sends_are_told_after_a_day_until_they_are_cancelled(shop: Shop) -> None:
    app = build_app(shop.resources)

    def count() -> float:
        return list_lines(app, "checkout_refunds_unsent")['{env_mode="test"}']

    order_id = paid(shop)
    asked = refund(shop, order_id).get_json()["refunds"][0]  # no worker looks from now on, so it stays unsent
    assert count() == 0
    shop.clock.advance(seconds=SENT_WITHIN.total_seconds() + 1)
    assert count() == 1
    shop.clock.advance(seconds=(GIVEN_UP_AFTER - SENT_WITHIN).total_seconds())
    assert count() == 0, "nobody's plan any more"
    with shop.resources.database.write() as session:
        session.execute(update(Refund).values(created_at=shop.clock.now() - timedelta(days=2)))
    assert count() == 1
    answer = shop.post(f"/api/v1/payment/{order_id}/cancel_refund", {"refund": asked["id"]})
    assert answer.status_code == 200, answer.get_json()
    assert count() == 0


def test_a_refund_that_was_sent_is_not_waited_for(shop: Shop) -> None:
    order_id = paid(shop)
    assert refund(shop, order_id).status_code == 200
    shop.wait(30)
    assert shop.order(order_id)["payment_order_status"] == "refunded"
    shop.clock.advance(seconds=SENT_WITHIN.total_seconds() + 1)
    assert list_lines(build_app(shop.resources), "checkout_refunds_unsent")['{env_mode="test"}'] == 0


def test_the_end_of_the_certificate_is_told_whoever_signed_it(resources: Resources) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, CERTIFICATE.with_suffix(".key"))

    def look(base_url: str) -> dict[str, float]:
        shown = replace(resources, config=replace(resources.config, base_url=base_url), memory=ShortMemory())
        return list_lines(build_app(shown), "checkout_certificate_seconds")

    with HTTPServer(ssl_context=context) as server:
        assert look(server.url_for("")) == {"": (ENDS_AT - resources.clock.now()).total_seconds()}
        gone = server.url_for("")
    assert look(gone) == {}
    assert look("http://127.0.0.1:9") == {}


def test_the_memory_of_the_process_is_told(resources: Resources) -> None:
    ((_, size),) = list_lines(build_app(resources), "checkout_process_resident_bytes").items()
    assert 30e6 < size < 30e9
