"""Transfers that count for no order: their vendor sees and assigns them, nobody else does, and each counts once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.exc import OperationalError

from api.domain.errors import Conflict
from api.services.routing.token_serializers import checksum
from api.services.settlement.crediting.unmatched_transfers import assign
from api.services.settlement.watching.watcher import watch
from api.storage.tables import OwnedAddress, Payment, PaymentOrder
from tests.api.conftest import START, Merchant
from tests.api.orders.test_orders_races import at_once, retried
from tests.support.shop import Shop
from tests.support.simulated_payments import read_order, send, undo_blocks

Check = Callable[..., None]
PATH = "/api/v1/unmatched_transfer"
PRICE = 10**6


@pytest.fixture
def rival(shop: Shop, other_merchant: Merchant) -> Shop:
    return Shop(client=shop.client, resources=shop.resources, clock=shop.clock, merchant=other_merchant)


def listed(shop: Shop, query: str = "") -> list[dict[str, Any]]:
    answer = shop.get(PATH + query)
    assert answer.status_code == 200, answer.get_json()
    rows: list[dict[str, Any]] = answer.get_json()["data"]
    return rows


def give(shop: Shop, transfer_id: str, order_id: str) -> Any:
    return shop.post(f"{PATH}/{transfer_id}/assign", {"payment_order_id": order_id})


def stray(shop: Shop, order_id: str, amount: int = PRICE, **changes: Any) -> str:
    """Let something reach the shop that names no order; return the transfer's id."""
    known = {row.id for row in shop.payments()}
    send(shop, order_id, amount, **({"reference": None} | changes))
    shop.wait(5)
    return next(row.public_id for row in shop.payments() if row.id not in known)


def check_money(shop: Shop) -> None:
    """Every transfer counts for one order or for none; each order has what was credited, and told each change once."""
    payments = [row for row in shop.payments() if row.state != "reorged"]
    assert len({(row.tx_hash, row.log_index) for row in payments}) == len(payments)
    assert sum(row.amount for row in payments) == sum(row.amount for row in shop.transfers())
    with shop.resources.database.read() as session:
        orders = session.scalars(select(PaymentOrder)).all()
    for order in orders:
        received = sum(row.amount for row in payments if row.order_id == order.id)
        assert order.amount_received == received
        assert (order.status == "success") == (received >= PRICE)
        assert len(shop.events(order.id)) == len(shop.history(order.id))


@pytest.mark.rule("evidence.11", "evidence.13")
def test_a_transfer_without_an_order_is_listed_and_pays_the_order_it_is_given_to(shop: Shop) -> None:
    order_id = shop.create()
    tx_hash = send(shop, order_id, PRICE, reference=None)
    shop.wait(5)
    order, (row,) = read_order(shop, order_id), listed(shop)
    (payment,) = shop.payments()
    assert row == {
        "id": payment.public_id,
        "env_mode": "test",
        "chain_id": 8453,
        "transaction_hash": tx_hash,
        "timestamp": "2026-03-01T12:00:00.250Z",
        "token": checksum(order.settlement_token_address or ""),
        "token_symbol": "USDC",
        "token_decimals": 6,
        "amount": str(PRICE),
        "from": checksum(payment.sender),
        "to": checksum(order.settlement_address or ""),
        "status": "final",
        "reason": "no_order",
        "named_order_id": None,
        "is_bridged": False,
    }
    answer = give(shop, row["id"], order_id)
    assert answer.status_code == 200
    (transfer,) = answer.get_json()["transfers"]
    assert (transfer["id"], transfer["evidence"], transfer["status"]) == (row["id"], "assigned", "seen")
    assert answer.get_json()["payment_order_status"] == "processing"
    assert listed(shop) == []
    shop.wait(2)
    assert shop.history(order_id) == ["created/", "processing/", "success/"]


@pytest.mark.rule("refunds.7")
def test_a_closed_order_is_credited_and_its_refund_must_say_to_whom(shop: Shop, assert_error: Check) -> None:
    order_id = shop.create()
    shop.post(f"/api/v1/payment/{order_id}/cancel")
    assert give(shop, stray(shop, order_id), order_id).get_json()["payment_order_status"] == "cancelled"
    shop.wait(5)
    assert shop.history(order_id) == ["created/", "cancelled/cancelled_by_vendor", "cancelled/paid_after_close"]
    assert [event["type"] for event in shop.events(order_id)][-1] == "payment_failed"
    refund = f"/api/v1/payment/{order_id}/refund"
    assert_error(shop.post(refund), 400)
    assert shop.post(refund).get_json()["error"][0]["path"] == "to"
    assert shop.post(refund, {"to": "0x" + "ab" * 20}).status_code == 200


def test_any_order_of_the_vendor_takes_what_reached_another_of_its_addresses(shop: Shop) -> None:
    """An account may have changed since: the transfer is the vendor's all the same."""
    order_id = shop.create()
    with shop.resources.database.write() as session:
        mine = OwnedAddress(
            chain_id=8453, address="0x" + "77" * 20, vendor_id=shop.merchant.id, env_mode="test", created_at=START
        )
        session.add(mine)
    transfer_id = stray(shop, order_id, recipient="0x" + "77" * 20)
    assert give(shop, transfer_id, order_id).status_code == 200
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"


@pytest.mark.rule("evidence.11")
def test_nobody_else_sees_or_assigns_it(shop: Shop, rival: Shop, assert_error: Check) -> None:
    order_id, theirs = shop.create(), rival.create()
    transfer_id = stray(shop, order_id)
    assert listed(rival) == []
    assert listed(shop, "?env_mode=test")
    assert shop.get(PATH, env_mode="live").get_json()["data"] == []
    assert_error(give(rival, transfer_id, theirs), 404, {})
    assert give(rival, transfer_id, theirs).get_json()["message"] == f"There is no transfer '{transfer_id}'"
    other = {"payment_order_id": "Not an order of this vendor in this environment"}
    assert_error(give(shop, transfer_id, theirs), 404, other)
    assert_error(give(shop, transfer_id, "po_nothing"), 404, other)
    live = shop.post(f"{PATH}/{transfer_id}/assign", {"payment_order_id": order_id}, env_mode="live")
    assert_error(live, 404, {})
    assert_error(shop.client.get(PATH), 401)
    assert_error(shop.client.post(f"{PATH}/{transfer_id}/assign", json={"payment_order_id": order_id}), 401)
    assert_error(shop.get(f"{PATH}?env_mode=live"), 403)
    assert shop.payments()[0].order_id is None


def test_an_address_with_two_owners_elsewhere_is_a_guess(shop: Shop, rival: Shop, assert_error: Check) -> None:
    """What reached it on a third chain is neither vendor's to take; on its own chain it is its owner's."""
    order_id = shop.create()
    transfer_id = stray(shop, order_id)
    address = read_order(shop, order_id).settlement_address
    with shop.resources.database.write() as session:
        session.execute(delete(OwnedAddress).where(OwnedAddress.address == address, OwnedAddress.chain_id != 8453))
        taken = OwnedAddress(
            chain_id=42161, address=address, vendor_id=rival.merchant.id, env_mode="test", created_at=START
        )
        session.add(taken)
    assert [row["id"] for row in listed(shop)] == [transfer_id]
    assert listed(rival) == []
    with shop.resources.database.write() as session:
        session.execute(update(Payment).values(chain_id=137))
    assert listed(shop) == listed(rival) == []
    assert_error(give(shop, transfer_id, order_id), 404, {})
    with shop.resources.database.write() as session:
        session.execute(update(Payment).values(chain_id=42161))
    assert listed(shop) == []
    assert [row["id"] for row in listed(rival)] == [transfer_id]
    assert_error(give(shop, transfer_id, order_id), 404, {})


def test_another_vendors_order_is_not_told(shop: Shop, rival: Shop) -> None:
    """A reference may name anybody's order; only one's own is shown."""
    theirs, mine = read_order(rival, rival.create()), shop.create()
    stray(shop, mine, reference=theirs.payment_reference)
    (row,) = listed(shop)
    assert (row["reason"], row["named_order_id"]) == ("other_recipient", None)
    assert shop.payments()[0].claimed_order_id == theirs.id
    assert listed(rival) == []


def test_what_is_taken_or_gone_is_refused(shop: Shop, assert_error: Check) -> None:
    first, second = shop.create(), shop.create()
    transfer_id = stray(shop, first)
    assert give(shop, transfer_id, first).status_code == 200
    for order_id in (first, second):
        assert_error(give(shop, transfer_id, order_id), 409, {})
    lost = stray(shop, second)
    with shop.resources.database.write() as session:
        session.execute(update(Payment).where(Payment.public_id == lost).values(state="reorged"))
    assert_error(give(shop, lost, second), 409, {})
    assert listed(shop) == []
    assert_error(shop.post(f"{PATH}/{lost}/assign"), 400, {"payment_order_id": "Required"})


def test_the_list_comes_in_pages_newest_first(shop: Shop, assert_error: Check) -> None:
    order_id = shop.create()
    made = []
    for amount in range(1, 6):
        send(shop, order_id, amount, reference=None)
        shop.wait(2)
        made.append(str(amount))
    cursor, seen = "", []
    for size in (2, 2, 1):
        page = shop.get(f"{PATH}?limit=2{cursor}").get_json()
        assert len(page["data"]) == size
        seen += [row["amount"] for row in page["data"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert page["next_cursor"] is None
    assert sorted(seen) == made
    for query, path in (("limit=0", "limit"), ("limit=101", "limit"), ("cursor=po_1", "cursor")):
        refused = shop.get(f"{PATH}?{query}")
        assert_error(refused, 400)
        assert [row["path"] for row in refused.get_json()["error"]] == [path]


def test_what_was_trusted_as_nobodys_is_checked_again_as_somebodys(shop: Shop) -> None:
    """A transfer that is nobody's waits for one block only; given to an order of great value it waits for that one's.

    Else a payer could have it assigned at once, and take it back with the block.
    """
    order_id = shop.create(order_price={"currency": "USDC", "amount": 50_000, "decimals": 0})
    send(shop, order_id, 50_000 * 10**6, reference=None)
    shop.wait(1)
    shop.wait(1)
    (row,) = listed(shop)
    assert row["status"] == "confirmed"
    answer = give(shop, row["id"], order_id)
    assert answer.get_json()["transfers"][0]["status"] == "seen"
    shop.clock.advance(seconds=0.25)
    watch(shop.resources)
    assert shop.history(order_id)[-1] == "processing/"
    shop.wait(60)
    assert shop.history(order_id)[-1] == "success/"


def test_a_reorganisation_after_the_assignment_takes_it_back(shop: Shop) -> None:
    order_id = shop.create(order_price={"currency": "USDC", "amount": 50_000, "decimals": 0})
    send(shop, order_id, 50_000 * 10**6, reference=b"?" * 16)
    shop.wait(1)
    (payment,) = shop.payments()
    assert give(shop, payment.public_id, order_id).status_code == 200
    assert shop.history(order_id)[-1] == "processing/"
    undo_blocks(shop, payment.block_number or 0, b"?" * 16)
    shop.wait(3)
    assert shop.payments()[0].state == "reorged"
    assert shop.history(order_id)[-1] == "created/reorged"
    assert listed(shop) == []
    order = shop.order(order_id)
    assert (order["amount_received"], order["transfers"]) == ("0", [])


def test_a_transfer_that_is_mined_again_stays_where_it_was_assigned(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, PRICE, reference=None)
    shop.wait(1)
    (payment,) = shop.payments()
    assert give(shop, payment.public_id, order_id).status_code == 200
    undo_blocks(shop, payment.block_number or 0)
    shop.wait(5)
    (again,) = shop.payments()
    assert (again.order_id, again.evidence, again.state) == (order_id, "assigned", "final")
    assert again.block_hash != payment.block_hash
    assert shop.history(order_id)[-1] == "success/"
    assert shop.order(order_id)["amount_received"] == str(PRICE)


@pytest.mark.rule("evidence.14")
def test_of_many_assignments_one_counts(shop: Shop) -> None:
    orders = [shop.create() for _ in range(4)]
    transfers = [stray(shop, orders[0]) for _ in range(4)]
    answers: list[int] = []

    def take(number: int) -> Callable[[], None]:
        def run() -> None:
            client = shop.client.application.test_client()
            for turn in range(4):
                body = {"payment_order_id": orders[(number + turn) % 4]}
                path = f"{PATH}/{transfers[turn]}/assign"
                answers.append(client.post(path, json=body, headers=shop.merchant.headers()).status_code)

        return run

    at_once(*[take(number) for number in range(4)])
    shop.wait(3)
    assert Counter(answers) == {200: 4, 409: 12}
    check_money(shop)


def test_assigning_against_the_watcher_and_the_operator(shop: Shop) -> None:
    """The vendor, the operator and three watchers at once, while payers pay the same orders themselves."""
    orders = [shop.create() for _ in range(12)]
    for order_id in orders:
        send(shop, order_id, PRICE, reference=None)
        send(shop, order_id, PRICE)
    shop.clock.advance(seconds=1)
    watch(shop.resources)
    strays = [row["id"] for row in listed(shop, "?limit=100")]
    assert len(strays) == 12
    shop.clock.advance(seconds=1)

    def ask() -> None:
        client = shop.client.application.test_client()
        for transfer_id, order_id in zip(strays, orders, strict=True):
            body = {"payment_order_id": order_id}
            answer = client.post(f"{PATH}/{transfer_id}/assign", json=body, headers=shop.merchant.headers())
            assert answer.status_code in {200, 409, 503}, answer.get_json()

    def operate() -> None:
        for transfer_id, order_id in zip(strays, reversed(orders), strict=True):
            with suppress(OperationalError, Conflict), shop.resources.database.write() as session:
                assign(session, transfer_id, order_id, shop.clock.now())

    at_once(ask, operate, *[retried(watch, shop)] * 3)
    shop.wait(4)
    check_money(shop)
    assert all(row.order_id is not None for row in shop.payments() if row.public_id in strays)
    assert {row.order_id for row in shop.payments() if row.evidence == "reference"} == set(orders)
