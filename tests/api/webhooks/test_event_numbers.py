"""Who reads events overlooks none that is being written, and keeps nobody from writing one, or from being credited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.services.webhooks import delivery_log, missed, numbering
from api.services.webhooks.outbox import NewEvent, publish
from tests.api.conftest import START
from tests.support.shop import Shop
from tests.support.webhooks import SUBSCRIPTIONS, Desk

SINCE = format_time(START)
READERS: dict[str, tuple[str, Any]] = {
    "list": (f"/api/v1/events?since={SINCE}", None),
    "search": (f"{SUBSCRIPTIONS}/{{}}/redeliver_missed", {"since": SINCE}),
}


@pytest.fixture
def webhook_id(desk: Desk, shop: Shop) -> str:
    """A subscription whose one delivery failed."""
    subscribed = str(desk.subscribe(shop.merchant)["webhook_id"])
    desk.transport.always(status=410)
    shop.create()
    desk.work()
    shop.post(f"{SUBSCRIPTIONS}/{subscribed}/enable")
    return subscribed


def write_event(session: Session, shop: Shop, order_id: str) -> str:
    data = {"payment_order_id": order_id}
    event = {"vendor_id": shop.merchant.id, "env_mode": EnvMode.TEST, "order_id": order_id, "data": data}
    return publish(session, NewEvent(type="payment_success", created_at=shop.clock.now(), **event))  # type: ignore[arg-type]  # of several types


def list_ids(shop: Shop) -> list[str]:
    return [row["id"] for row in shop.get("/api/v1/events").get_json()["data"]]


@pytest.mark.parametrize("is_repeatable", [False, True], ids=["once", "with an idempotency key"])
@pytest.mark.parametrize("reader", READERS)
def test_nobody_waits_for_who_reads_or_searches_events(
    shop: Shop, webhook_id: str, monkeypatch: pytest.MonkeyPatch, reader: str, is_repeatable: bool
) -> None:
    """While one vendor searches, its own order is paid, and credited with all others of the chain."""
    path, body = READERS[reader]
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    find, looks = delivery_log.find_place, []

    def pay_meanwhile(*given: Any) -> Any:
        if not looks:
            looks.append(given)
            shop.wait(5)
        return find(*given)

    for module in (delivery_log, missed):
        monkeypatch.setattr(module, "find_place", pay_meanwhile)
    headers = shop.merchant.headers() | ({"Idempotency-Key": "k"} if is_repeatable else {})
    method = "GET" if body is None else "POST"
    answer = shop.client.open(path.format(webhook_id), method=method, json=body, headers=headers)
    assert (answer.status_code, len(looks)) == (200, 1), answer.get_json()
    assert shop.order(order_id)["payment_order_status"] == "success"


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_an_event_that_is_committed_late_is_not_overlooked(
    shop: Shop, webhook_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where several write at once, a later number may be seen first. Later writers are not waited for."""
    order_id, known = shop.create(), list_ids(shop)
    database, list_writers = shop.resources.database, numbering._list_writers
    looked: list[set[str]] = []
    third: list[str] = []

    def look(*given: Any) -> set[str]:
        looked.append(set(list_writers(*given)))
        if len(looked) == 1:
            third.append(write_event(latest, shop, order_id))
        if len(looked) == 2:
            early.commit()
        return set(looked[-1])

    with Session(database.engine) as early, Session(database.engine) as latest:
        first = write_event(early, shop, order_id)
        with database.write() as session:
            second = write_event(session, shop, order_id)
        monkeypatch.setattr(numbering, "_list_writers", look)
        assert list_ids(shop) == [*known, first, second]
        assert [len(each) for each in looked] == [1, 2, 1]
        latest.commit()
    assert list_ids(shop) == [*known, first, second, *third]


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize("reader", READERS)
def test_a_writer_that_goes_on_is_waited_for_so_long_and_no_longer(
    shop: Shop, webhook_id: str, monkeypatch: pytest.MonkeyPatch, assert_error: Callable[..., None], reader: str
) -> None:
    path, body = READERS[reader]
    order_id = shop.create()
    monkeypatch.setattr(numbering, "PATIENCE_S", 0.05)
    ask: dict[str, Any] = {"method": "GET" if body is None else "POST", "json": body}
    with Session(shop.resources.database.engine) as session:
        write_event(session, shop, order_id)
        refused = shop.client.open(path.format(webhook_id), headers=shop.merchant.headers(), **ask)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1"), refused.get_json()
        live = shop.client.get("/api/v1/events", headers=shop.merchant.headers("live"))
        assert live.status_code == 200
        session.rollback()
    assert shop.client.open(path.format(webhook_id), headers=shop.merchant.headers(), **ask).status_code == 200


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize("vendor_id", ["ven_1", "ven_2", "ven_3", "ven_4"])
def test_writers_are_found_whatever_the_number_of_their_lock(shop: Shop, vendor_id: str) -> None:
    """PostgreSQL shows a lock's number in two halves without a sign."""
    database = shop.resources.database
    with database.write() as session:
        number = numbering.number_lock(vendor_id, EnvMode.TEST)
        session.execute(text("SELECT pg_advisory_xact_lock_shared(:number)"), {"number": number})
        assert len(numbering._list_writers(database, vendor_id, EnvMode.TEST)) == 1
    assert numbering._list_writers(database, vendor_id, EnvMode.TEST) == set()
