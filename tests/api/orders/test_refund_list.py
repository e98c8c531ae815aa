"""A vendor finds its refunds of all orders, by where they stand, and its own note on each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from alembic import command
from sqlalchemy import insert, select, update
from sqlalchemy import text as sql

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.refund_filter import RefundFilter
from api.services.orders.refund_list import build_query
from api.services.simulator import ledger
from api.storage import migrations
from api.storage.db import Database
from api.storage.tables import Refund
from tests.api.conftest import Merchant
from tests.api.orders.test_order_search_plans import copy_row
from tests.api.orders.test_refund_cancelling import ask, cancel, send_late
from tests.support.databases import DIALECTS, Databases
from tests.support.plans import explain_all
from tests.support.refunds import ELSEWHERE, FINAL_S, paid, refund
from tests.support.shop import Shop

CROWD = 2000


def list_all(shop: Shop, **query: object) -> list[dict[str, Any]]:
    """Read every page of the list."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, object] = {}
    while True:
        answer = shop.get(f"/api/v1/refund?{urlencode({**query, **cursor}, doseq=True)}")
        assert answer.status_code == 200, answer.get_json()
        page = answer.get_json()
        found += page["data"]
        if page["next_cursor"] is None:
            return found
        cursor = {"cursor": page["next_cursor"]}


def list_ids(shop: Shop, **query: object) -> list[str]:
    return [each["id"] for each in list_all(shop, **query)]


@pytest.fixture
def unsigned(monkeypatch: pytest.MonkeyPatch) -> None:
    """No wallet signs a refund by itself."""
    monkeypatch.setattr(ledger, "sign_refunds", lambda *_: None)


@pytest.mark.usefixtures("unsigned")
def test_refunds_of_all_orders_are_listed_newest_first_by_where_they_stand(shop: Shop) -> None:
    first, second = paid(shop), paid(shop)
    final = ask(shop, first, amount="1")
    send_late(shop, first, final)
    in_part = ask(shop, first, amount="5", to=ELSEWHERE)
    send_late(shop, first, in_part, 2)
    shop.wait(FINAL_S)
    shop.clock.advance(seconds=60)
    later = shop.clock.now()
    cancelled = ask(shop, second, amount="3")
    cancel(shop, second, cancelled["id"])
    waiting = ask(shop, second, amount="4")
    whole = [waiting, cancelled, in_part, final]
    assert list_ids(shop) == list_ids(shop, limit=1) == list_ids(shop, limit=2) == [each["id"] for each in whole]
    shown = list_all(shop)
    assert [each["payment_order_id"] for each in shown] == [second, second, first, first]
    of_orders = {each["id"]: each for order in (first, second) for each in shop.order(order)["refunds"]}
    assert [{name: each[name] for name in each if name != "payment_order_id"} for each in shown] == [
        of_orders[each["id"]] for each in whole
    ]
    assert [each["status"] for each in shown] == ["requested", "cancelled", "requested", "final"]
    assert list_ids(shop, status="requested", limit=1) == [waiting["id"], in_part["id"]]
    assert list_ids(shop, status=["cancelled", "final"], limit=1) == [cancelled["id"], final["id"]]
    assert list_ids(shop, status="sent") == []
    assert list_ids(shop, payment_order_id=first) == [in_part["id"], final["id"]]
    assert list_ids(shop, created_from=format_time(later)) == [waiting["id"], cancelled["id"]]
    assert list_ids(shop, created_to=format_time(later), status="requested") == [in_part["id"]]


@pytest.mark.usefixtures("unsigned")
def test_what_several_transfers_send_is_final_together(shop: Shop) -> None:
    """What no query can add up is added up here, also where the next pages have what fits."""
    order_id = paid(shop)
    asked = [ask(shop, order_id, amount=str(6 + number)) for number in range(3)]
    for each in asked[1:]:
        send_late(shop, order_id, each, 3)
        send_late(shop, order_id, each, int(each["amount"]) - 3)
    shop.wait(FINAL_S)
    assert list_ids(shop, status="requested", limit=1) == [asked[0]["id"]]
    assert list_ids(shop, status="final", limit=1) == [asked[2]["id"], asked[1]["id"]]


def test_nobody_lists_refunds_of_others(
    shop: Shop, other_merchant: Merchant, assert_error: Callable[..., None]
) -> None:
    refund(shop, paid(shop))
    for headers in (other_merchant.headers("test"), shop.merchant.headers("live")):
        assert shop.client.get("/api/v1/refund", headers=headers).get_json() == {"data": [], "next_cursor": None}
    (mine,) = list_ids(shop)
    for cursor in (mine, "rf_zz", "rf_" + "0" * 32):
        query = {"query_string": {"cursor": cursor}, "headers": other_merchant.headers("test")}
        refused = shop.client.get("/api/v1/refund", **query)
        assert_error(refused, 400, {"cursor": "Expected the next_cursor of an earlier page"})
    assert_error(shop.get("/api/v1/refund?env_mode=live"), 403)
    wrong = shop.get("/api/v1/refund?status=done&cursor=po_1")
    assert wrong.status_code == 400
    assert {each["path"] for each in wrong.get_json()["error"]} == {"status", "cursor"}


def test_a_refund_that_an_older_version_made_is_listed_too(shop: Shop) -> None:
    """While old and new processes run on one schema, the old ones make refunds without a vendor (ADR 50)."""
    refund(shop, paid(shop))
    with shop.resources.database.write() as session:
        session.execute(update(Refund).values(vendor_id=None, env_mode=None))
    assert len(list_ids(shop)) == 1


def test_a_note_is_shown_with_its_refund_wherever_that_is(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = paid(shop)
    for wrong in ("", "x" * 501):
        assert_error(refund(shop, order_id, note=wrong), 400, {"note": "Must have 1 to 500 characters"})
    asked = ask(shop, order_id, amount="5", note="=RMA 1042 – ü")
    assert asked["note"] == "=RMA 1042 – ü"
    assert ask(shop, order_id, amount="5", note="=RMA 1042 – ü")["id"] == asked["id"], "the same request again"
    other = ask(shop, order_id, amount="5", note="RMA 1043")
    assert other["id"] != asked["id"], "another reason is another refund"
    plain = ask(shop, order_id, amount="5")
    assert (plain["note"], plain["id"] in {asked["id"], other["id"]}) == (None, False)
    shop.wait(FINAL_S)
    notes = ["=RMA 1042 – ü", "RMA 1043", None]
    assert [each["note"] for each in shop.order(order_id)["refunds"]] == notes
    assert [each["note"] for each in list_all(shop)] == notes[::-1]
    told = [each["data"]["refund"]["note"] for each in shop.events(order_id) if each["type"] == "payment_refunded"]
    assert sorted(told, key=str) == sorted(notes, key=str)
    exported = shop.get("/api/v1/transfer.csv").get_data(as_text=True)
    assert '"\'=RMA 1042 – ü",' in exported
    assert "RMA" not in shop.client.get(f"/payment/{order_id}").get_data(as_text=True)


@pytest.fixture(scope="module", params=DIALECTS)
def own_database(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Database]:
    """A database that nobody else uses: what ANALYZE counts here would decide plans of other tests."""
    with databases.lend(request.param) as own:
        yield own


class TestOwnDatabase:
    """On a database of its own: the list reads by an index, also where a database knows how many rows there are."""

    @pytest.fixture
    def database(self, own_database: Database) -> Database:
        return own_database

    @pytest.mark.parametrize(
        "wanted",
        [RefundFilter(), RefundFilter(status=["requested"]), RefundFilter(status=["sent", "final", "cancelled"])],
        ids=["all", "requested", "others"],
    )
    def test_pages_are_read_by_the_index_of_their_vendor(self, shop: Shop, wanted: RefundFilter) -> None:
        order_id = paid(shop)
        ask(shop, order_id, amount="5")
        with shop.resources.database.write() as session:
            row = copy_row(session.query(Refund).filter_by(order_id=order_id).one(), "id")
            crowd = [
                {**row, "reference": number.to_bytes(16, "big"), "vendor_id": f"ven_{number % 50}"}
                for number in range(CROWD)
            ]
            session.execute(insert(Refund), crowd)
        with shop.resources.database.write() as session:
            session.execute(sql("ANALYZE"))
        query = build_query(shop.merchant.id, EnvMode.TEST, wanted, 21)
        (plan,) = explain_all(shop.resources.database, lambda session: session.scalars(query).all())
        assert "ix_refunds_vendor_id_env_mode_created_at_id" in plan, plan
        assert "SCAN" not in plan, plan
        assert "Seq Scan" not in plan, plan

    def test_refunds_of_before_get_their_vendor_with_the_schema(self, shop: Shop) -> None:
        (asked,) = refund(shop, paid(shop)).get_json()["refunds"]
        database = shop.resources.database
        command.downgrade(migrations.make_alembic_config(database.engine), "0014")
        assert migrations.upgrade(database.engine) == migrations.find_latest_revision()
        with database.read() as session:
            assert session.execute(select(Refund.vendor_id, Refund.env_mode)).all() == [(shop.merchant.id, "test")]
        assert list_ids(shop) == [asked["id"]]
