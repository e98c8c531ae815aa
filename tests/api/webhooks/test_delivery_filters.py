"""Deliveries are found by where they stand, by event and by order; a subscription tells since when it fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import insert
from sqlalchemy import text as sql

from api.services.webhooks.deliveries import DeliveryFilter, build_query
from api.storage.db import Database
from api.storage.tables import WebhookDelivery, WebhookEvent
from tests.api.conftest import START, Merchant
from tests.api.storage.test_storage import order_of
from tests.support.clock import SettableClock
from tests.support.databases import DIALECTS, Databases
from tests.support.plans import explain_all
from tests.support.webhooks import SUBSCRIPTIONS, Desk

CROWD, ORDERS = 3000, 300


def list_events(desk: Desk, merchant: Merchant, webhook_id: str, query: str) -> list[str]:
    answer = desk.client.get(f"{SUBSCRIPTIONS}/{webhook_id}/deliveries?{query}", headers=merchant.headers())
    assert answer.status_code == 200, answer.get_json()
    return [each["event_id"] for each in answer.get_json()["data"]]


def test_deliveries_are_found_by_what_they_have(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    with desk.resources.database.write() as session:
        session.add_all([order_of(merchant, "po_1"), order_of(merchant, "po_2")])
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    failed = desk.publish(merchant, order_id="po_1")
    desk.transport.always(status=500)
    for _ in range(3):
        desk.work()
        clock.advance(seconds=600)
    desk.transport.always(status=200)
    clock.advance(seconds=1)
    delivered = desk.publish(merchant, order_id="po_2")
    desk.work()
    clock.advance(seconds=1)
    pending = desk.publish(merchant, order_id="po_1")
    for query, wanted in {
        "status=failed": [failed],
        "status=cancelled&status=failed": [failed],
        "status=pending,failed": [pending, failed],
        "status=delivered": [delivered],
        "payment_order_id=po_1": [pending, failed],
        "payment_order_id=po_1&status=pending": [pending],
        f"event_id={delivered}": [delivered],
        f"event_id={delivered}&status=failed": [],
        "event_id=evt_1": [],
    }.items():
        assert list_events(desk, merchant, webhook_id, query) == wanted, query


def test_a_malformed_filter_is_named(desk: Desk, merchant: Merchant) -> None:
    webhook_id = desk.subscribe(merchant)["webhook_id"]
    path = f"{SUBSCRIPTIONS}/{webhook_id}/deliveries?status=lost&event_id=po_1&payment_order_id=evt_1"
    answer = desk.client.get(path, headers=merchant.headers())
    assert answer.status_code == 400
    assert {each["path"] for each in answer.get_json()["error"]} == {"status", "event_id", "payment_order_id"}


def test_a_subscription_says_since_when_it_fails(desk: Desk, merchant: Merchant, clock: SettableClock) -> None:
    webhook_id = desk.subscribe(merchant)["webhook_id"]

    def look() -> str | None:
        data = desk.client.get(f"{SUBSCRIPTIONS}/{webhook_id}", headers=merchant.headers()).get_json()["data"]
        (listed,) = desk.client.get(SUBSCRIPTIONS, headers=merchant.headers()).get_json()["data"]
        assert data == listed
        since: str | None = data["failing_since"]
        return since

    desk.publish(merchant)
    assert look() is None
    desk.transport.always(error="refused")
    clock.advance(seconds=1)
    desk.work()
    clock.advance(seconds=6)
    desk.work()
    assert look() == "2026-03-01T12:00:01.000Z"
    desk.transport.always(status=200)
    clock.advance(seconds=600)
    desk.work()
    assert look() is None


@pytest.fixture(scope="module", params=DIALECTS)
def own_database(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Database]:
    """A database that nobody else uses: what ANALYZE counts here would decide plans of other tests."""
    with databases.lend(request.param) as own:
        yield own


class TestPlans:
    """Each filter reads by an index, also where a database knows how many rows there are."""

    @pytest.fixture
    def database(self, own_database: Database) -> Database:
        return own_database

    @pytest.mark.parametrize(
        ("wanted", "index"),
        [
            (DeliveryFilter(status=["failed"]), "ix_webhook_deliveries_given_up"),
            (DeliveryFilter(status=["failed", "cancelled"]), "ix_webhook_deliveries_given_up"),
            (
                DeliveryFilter(event_id="evt_7"),
                "uq_webhook_deliveries_event_id_subscription_id|sqlite_autoindex_webhook_deliveries",
            ),
            (DeliveryFilter(payment_order_id="po_1"), "ix_events_order_id"),
        ],
        ids=["failed", "given up", "event", "order"],
    )
    def test_deliveries_are_read_by_an_index(
        self, desk: Desk, merchant: Merchant, wanted: DeliveryFilter, index: str
    ) -> None:
        webhook_id = desk.subscribe(merchant)["webhook_id"]
        with desk.resources.database.write() as session:
            session.add_all([order_of(merchant, f"po_{each}") for each in range(ORDERS)])
            session.flush()
            made = {"vendor_id": merchant.id, "type": "payment_success", "env_mode": "test", "payload": "{}"}
            made |= {"created_at": START}
            rows = [{**made, "id": f"evt_{each}", "order_id": f"po_{each % ORDERS}"} for each in range(CROWD)]
            session.execute(insert(WebhookEvent), rows)
            sent = {"subscription_id": webhook_id, "status": "delivered", "created_at": START, "attempts": 1}
            rows = [{**sent, "id": f"dlv_{each}", "event_id": f"evt_{each}"} for each in range(CROWD)]
            session.execute(insert(WebhookDelivery), rows)
        with desk.resources.database.write() as session:
            session.execute(sql("ANALYZE"))
        query = build_query(webhook_id, wanted, 26)
        (plan,) = explain_all(desk.resources.database, lambda session: session.execute(query).all())
        assert any(name in plan for name in index.split("|")), plan
        assert "SCAN" not in plan, plan
        assert "Seq Scan" not in plan, plan
