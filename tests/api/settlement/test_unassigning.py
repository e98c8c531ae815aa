"""A payment that was assigned by mistake is taken back, so that no order is paid twice by it and nobody's is stolen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select, update

from api.cli.commands import main
from api.domain.errors import Conflict, NotFound
from api.services.orders import commands
from api.services.settlement.crediting import unassigning
from api.services.settlement.crediting.unassigning import unassign
from api.services.settlement.crediting.unmatched_transfers import assign
from api.services.simulator import ledger
from api.storage.tables import AuditEntry, OwnedAddress, Payment, PaymentOrder
from tests.api.conftest import Merchant
from tests.api.orders.test_refund_cancelling import ask, cancel, send_late
from tests.support.refunds import ELSEWHERE, FINAL_S, refund
from tests.support.shop import Shop
from tests.support.simulated_payments import read_order, send
from tests.support.webhooks import SUBSCRIPTIONS

PRICE = 10**6


def receive(shop: Shop, order_id: str, amount: int = PRICE, reference: bytes | None = None) -> str:
    """Let money without a reference reach the order's merchant, and return its id."""
    send(shop, order_id, amount, reference=reference)
    shop.wait(5)
    return shop.payments()[-1].public_id


def give(shop: Shop, transfer_id: str, order_id: str) -> None:
    with shop.resources.database.write() as session:
        assign(session, transfer_id, order_id, shop.clock.now())


def take(shop: Shop, transfer_id: str) -> PaymentOrder:
    with shop.resources.database.write() as session:
        return unassign(session, transfer_id, shop.clock.now())


def tell(shop: Shop, order_id: str) -> list[str]:
    """Return the events of an order, as short words."""
    return [
        f"{each['type']} {each['data']['payment_order_status']}/{each['data']['status_reason']}"
        for each in shop.events(order_id)
    ]


@pytest.mark.rule("evidence.14", "evidence.17")
def test_what_was_assigned_by_mistake_pays_the_right_order_and_no_other(shop: Shop) -> None:
    wrong, right = shop.create(), shop.create()
    transfer = receive(shop, wrong)
    give(shop, transfer, wrong)
    order = take(shop, transfer)
    assert (order.status, order.status_reason, order.amount_received, order.amount_due) == ("created", "", 0, PRICE)
    assert order.transaction_hash == ""
    assert tell(shop, wrong)[-1] == "payment_processing created/"
    assert shop.events(wrong)[-1]["data"]["transaction_hash"] == ""
    assert shop.order(wrong)["payable"] is True
    shop.wait(FINAL_S)
    assert shop.order(wrong)["payment_order_status"] == "created"
    give(shop, transfer, right)
    shop.wait(5)
    assert shop.order(right)["payment_order_status"] == "success"
    assert shop.order(wrong)["payment_order_status"] == "created"
    with pytest.raises(Conflict, match="has succeeded with this payment"):
        take(shop, transfer)
    assert shop.order(right)["payment_order_status"] == "success"
    (payment,) = shop.payments()
    assert payment.order_id == right


@pytest.mark.rule("evidence.17")
def test_a_success_that_rests_on_it_stays_also_when_more_came_after_it_was_closed(shop: Shop) -> None:
    order_id = shop.create()
    transfer = receive(shop, order_id)
    give(shop, transfer, order_id)
    shop.wait(5)
    late = receive(shop, order_id)
    give(shop, late, order_id)
    shop.wait(FINAL_S)
    assert shop.history(order_id)[-1] == "success/paid_after_close"
    with pytest.raises(Conflict, match="has succeeded with this payment"):
        take(shop, transfer)
    count = tell(shop, order_id).count("payment_success success/")
    order = take(shop, late)
    assert (order.status, order.status_reason, order.amount_received) == ("success", "", PRICE)
    assert shop.history(order_id)[-1] == "success/"
    assert tell(shop, order_id).count("payment_success success/") == count == 1, "a success is told once"


def test_what_an_order_does_not_need_is_taken_from_its_success(shop: Shop) -> None:
    order_id = shop.create()
    transfer = receive(shop, order_id, 10 * PRICE // 100)
    give(shop, transfer, order_id)
    shop.wait(1)
    with shop.resources.database.read() as session:
        reference = session.get_one(PaymentOrder, order_id).payment_reference
    send(shop, order_id, PRICE, reference=reference)
    shop.wait(5)
    assert shop.history(order_id)[-1] == "success/overpaid"
    order = take(shop, transfer)
    assert (order.status, order.status_reason, order.amount_received) == ("success", "", PRICE)


@pytest.mark.rule("evidence.17")
@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_success_does_not_rest_on_what_goes_back_or_may(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, is_cancelled: bool
) -> None:
    """Who is paid back by a copy of a cancelled refund would have had the goods of two orders for one price."""
    monkeypatch.setattr(ledger, "sign_refunds", lambda *_: None)
    order_id = shop.create()
    transfer = receive(shop, order_id, 9 * PRICE // 10)
    give(shop, transfer, order_id)
    named = receive(shop, order_id, reference=read_order(shop, order_id).payment_reference)
    shop.wait(FINAL_S)
    assert shop.history(order_id)[-1] == "success/overpaid"
    asked = ask(shop, order_id, transfer=named)
    if is_cancelled:
        assert cancel(shop, order_id, asked["id"]).status_code == 200
    with pytest.raises(Conflict, match="has succeeded with this payment"):
        take(shop, transfer)
    send_late(shop, order_id, asked)
    shop.wait(FINAL_S)
    (payment,) = [row for row in shop.payments() if row.public_id == transfer]
    assert payment.order_id == order_id


def test_a_success_does_not_rest_on_what_its_chain_may_still_lose(shop: Shop) -> None:
    order_id = shop.create()
    transfer = receive(shop, order_id, 9 * PRICE // 10)
    give(shop, transfer, order_id)
    named = receive(shop, order_id, reference=read_order(shop, order_id).payment_reference)
    shop.wait(1)
    assert shop.history(order_id)[-1] == "success/overpaid"
    with shop.resources.database.write() as session:
        session.execute(update(Payment).where(Payment.public_id == named).values(state="confirmed"))
    with pytest.raises(Conflict, match="has succeeded with this payment"):
        take(shop, transfer)
    shop.wait(FINAL_S)
    assert take(shop, transfer).status == "success"


@pytest.mark.parametrize("part", [PRICE // 2, 2 * PRICE])
def test_an_open_order_is_short_again_of_what_is_taken(shop: Shop, part: int) -> None:
    order_id = shop.create()
    mine, others = receive(shop, order_id, PRICE // 4), receive(shop, order_id, part)
    give(shop, mine, order_id)
    with shop.resources.database.write() as session:
        assign(session, others, order_id, shop.clock.now())
        order = unassign(session, others, shop.clock.now())
    assert (order.status, order.status_reason, order.amount_due) == ("processing", "underpaid", 3 * PRICE // 4)
    event = shop.events(order_id)[-1]["data"]
    assert (event["amount_received"], event["amount_due"]) == (str(PRICE // 4), str(3 * PRICE // 4))


def test_a_closed_order_is_as_it_was_and_its_vendor_hears_of_the_transfer_again(shop: Shop) -> None:
    hook = {"webhook_url": "https://shop.example/hook", "env_mode": "test", "events": ["payment_unmatched"]}
    assert shop.post(SUBSCRIPTIONS, hook).status_code == 200
    order_id = shop.create()
    shop.post(f"/api/v1/payment/{order_id}/cancel")
    transfer = receive(shop, order_id)
    give(shop, transfer, order_id)
    shop.wait(5)
    assert shop.history(order_id)[-1] == "cancelled/paid_after_close"
    take(shop, transfer)
    shop.wait(5)
    assert shop.history(order_id)[-1] == "cancelled/cancelled_by_vendor"
    assert tell(shop, order_id)[-1] == "payment_failed cancelled/cancelled_by_vendor"
    listed = shop.get("/api/v1/unmatched_transfer").get_json()["data"]
    assert [each["id"] for each in listed] == [transfer]
    told = shop.get("/api/v1/events?since=2026-03-01T00:00:00Z").get_json()["data"]
    unmatched = [each for each in told if each["event"]["type"] == "payment_unmatched"]
    assert [each["event"]["data"]["transfer"]["id"] for each in unmatched] == [transfer, transfer]


def test_what_can_not_be_taken_back(shop: Shop, other_merchant: Merchant) -> None:
    paid, order_id = shop.create(), shop.create()
    shop.simulate(paid, "pay")
    shop.wait(5)
    transfer = receive(shop, order_id)
    with pytest.raises(NotFound):
        take(shop, "tr_nothing")
    with pytest.raises(Conflict, match="belongs to no order"):
        take(shop, transfer)
    by_reference = next(each for each in shop.payments() if each.order_id == paid)
    with pytest.raises(Conflict, match="counts by its reference"):
        take(shop, by_reference.public_id)
    give(shop, transfer, order_id)
    database = shop.resources.database
    with database.write() as session:
        session.execute(update(OwnedAddress).values(vendor_id=other_merchant.id))
    with pytest.raises(Conflict, match="no address of the order's vendor any more"):
        take(shop, transfer)
    with database.write() as session:
        session.execute(update(OwnedAddress).values(vendor_id=shop.merchant.id))
        session.execute(update(Payment).where(Payment.public_id == transfer).values(state="lost"))
    with pytest.raises(Conflict, match="not on its chain any more"):
        take(shop, transfer)


@pytest.mark.rule("evidence.17")
@pytest.mark.parametrize("is_cancelled", [False, True])
def test_what_goes_back_is_not_taken_for_another_order(shop: Shop, is_cancelled: bool) -> None:
    order_id = shop.create()
    shop.post(f"/api/v1/payment/{order_id}/cancel")
    transfer = receive(shop, order_id)
    give(shop, transfer, order_id)
    shop.wait(FINAL_S)
    asked = refund(shop, order_id, to=ELSEWHERE).get_json()["refunds"][0]
    if is_cancelled:
        assert shop.post(f"/api/v1/payment/{order_id}/cancel_refund", {"refund": asked["id"]}).status_code == 200
    with pytest.raises(Conflict, match="sent back"):
        take(shop, transfer)


def test_a_refund_that_was_asked_for_meanwhile_is_refused(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    order_id = shop.create()
    shop.post(f"/api/v1/payment/{order_id}/cancel")
    transfer = receive(shop, order_id)
    give(shop, transfer, order_id)
    shop.wait(FINAL_S)
    screen = commands.require_accepted

    def take_between(*given: object) -> None:
        take(shop, transfer)
        screen(*given)

    monkeypatch.setattr(commands, "require_accepted", take_between)
    answer = refund(shop, order_id, to=ELSEWHERE)
    assert answer.status_code == 409, answer.get_json()
    assert "does not belong to this order any more" in answer.get_json()["message"]


def test_who_asks_for_a_refund_waits_for_nobody_who_waits_for_its_order(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: of two who asked for a refund of a payment and took it away, PostgreSQL ended one, as each had a lock.

    The row of a refund refers to its payment, which the other had locked before it waited for the order.
    """
    order_id = shop.create()
    shop.post(f"/api/v1/payment/{order_id}/cancel")
    transfer = receive(shop, order_id)
    give(shop, transfer, order_id)
    shop.wait(FINAL_S)
    has_payment, is_asked = threading.Event(), threading.Event()
    lock = unassigning.lock_orders

    def lock_after_the_refund(*given: Any) -> Any:
        has_payment.set()
        if shop.resources.database.engine.dialect.name == "postgresql":  # SQLite has one writer at a time
            assert is_asked.wait(20)
        return lock(*given)

    monkeypatch.setattr(unassigning, "lock_orders", lock_after_the_refund)
    with ThreadPoolExecutor(1) as pool:
        taken = pool.submit(take, shop, transfer)
        assert has_payment.wait(20)
        answer = refund(shop, order_id, to=ELSEWHERE)
        is_asked.set()
        if shop.resources.database.engine.dialect.name == "postgresql":
            assert answer.status_code == 200, answer.get_json()
            assert isinstance(taken.exception(20), Conflict)
        else:
            assert (answer.status_code, taken.exception(20)) == (409, None)


def test_it_may_be_claimed_for_the_order_that_it_named_again(shop: Shop) -> None:
    order_id, named = shop.create(), shop.create()
    transfer = receive(shop, order_id)
    with shop.resources.database.write() as session:
        row = session.scalars(select(Payment)).one()
        row.claimed_order_id, row.unmatched_reason = named, "other_payer"
    give(shop, transfer, order_id)
    take(shop, transfer)
    (payment,) = shop.payments()
    assert (payment.claimed_order_id, payment.unmatched_reason) == (named, "other_payer")
    give(shop, transfer, order_id)
    with shop.resources.database.write() as session:
        session.execute(AuditEntry.__table__.delete())
    take(shop, transfer)
    (payment,) = shop.payments()
    assert (payment.claimed_order_id, payment.unmatched_reason) == (named, "no_order"), "nobody knows more"


def test_of_many_who_move_it_at_once_one_order_has_it(shop: Shop) -> None:
    orders = [shop.create() for _ in range(4)]
    transfer = receive(shop, orders[0])

    def try_all(act: Callable[[], object]) -> bool:
        try:
            act()
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        moves = [
            pool.submit(try_all, act)
            for order_id in orders
            for act in (lambda order_id=order_id: give(shop, transfer, order_id), lambda: take(shop, transfer))
        ]
        assert [each.result() for each in moves].count(True) > 0
    shop.wait(5)
    (payment,) = shop.payments()
    paid = [order_id for order_id in orders if shop.order(order_id)["amount_received"] != "0"]
    assert paid == ([] if payment.order_id is None else [payment.order_id])
    assert [each for each in orders if shop.order(each)["payment_order_status"] == "success"] == paid


def test_the_operator_takes_back(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", shop.resources.config.database_url)
    order_id = shop.create()
    transfer = receive(shop, order_id)
    give(shop, transfer, order_id)
    done = CliRunner().invoke(main, ["payments", "unassign", transfer])
    assert (done.exit_code, done.stdout) == (0, f"Transfer {transfer} belongs to no order; {order_id} is created.\n")
    again = CliRunner().invoke(main, ["payments", "unassign", transfer])
    assert (again.exit_code, again.stdout) == (1, "")
    with shop.resources.database.read() as session:
        entry = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
        assert entry is not None
        found = entry.action, entry.subject, entry.before, entry.after, entry.vendor_id
    assert found == ("payment_unassigned", transfer, {"order_id": order_id}, {"order_id": None}, shop.merchant.id)
