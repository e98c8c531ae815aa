"""What the page says of money: what came, what is on its way, and what it does not know."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event

from api.checkout_page.language import strings
from api.checkout_page.status.state import PageState, build_state
from api.domain.env import EnvMode
from api.domain.orders import OrderStatus, StatusReason
from api.domain.simulation import Action
from api.domain.transfers import TransferKind
from api.services.checkout.journey import Stage, StageKind, StageState
from api.services.checkout.money_seen import MoneySeen, SeenTransfer, load_order_and_money
from api.services.orders.commands import cancel
from api.services.orders.creation import NewLink, create_link
from api.services.orders.expiry import expire_orders
from api.services.orders.views import PublicOrder, load_public_order
from api.services.resources import Resources
from api.services.settlement.watching.watcher import watch
from api.services.simulator.actions import simulate
from api.storage.tables import DoubtfulBlock
from routing_engine.reference import token_registry
from tests.api.conftest import START, Merchant
from tests.support.clock import SettableClock

USDC = token_registry.token("USDC", 8453)
DAI = token_registry.token("DAI", 8453)
HASH = f"0x{'ab' * 32}"


def transfer(**changes: Any) -> SeenTransfer:
    values = {
        "kind": TransferKind.PAYMENT,
        "chain_id": 8453,
        "tx_hash": HASH,
        "token_address": USDC.address,
        "amount": 21_250_000,
        "bridge": "",
        "is_counted": True,
        "is_after_close": False,
        "is_waiting": False,
        "is_settled": True,
        "mined_at": START,
        "source_tx_hash": None,
    }
    return SeenTransfer(**{**values, **changes})


DEPOSIT = transfer(
    kind=TransferKind.DEPOSIT,
    chain_id=10,
    token_address=token_registry.token("USDC", 10).address,
    bridge="across",
    is_counted=False,
    is_waiting=True,
)
FOREIGN = transfer(token_address=DAI.address, amount=5 * 10**18, is_counted=False)


@pytest.fixture
def order(resources: Resources, merchant: Merchant) -> PublicOrder:
    link = NewLink(
        line_items=({"title": "Tea", "quantity": 2},),
        order_price={"currency": "USDC", "amount": 42_500_000, "decimals": 6},
        env_mode=EnvMode.TEST,
        success_callback_url="https://shop.example/done",
        cancel_callback_url="https://shop.example/cart",
        failure_callback_url="https://shop.example/failed",
        metadata={},
    )
    return load_public_order(resources, create_link(resources, merchant.id, link)["payment_order_id"])


def shown(
    order: PublicOrder,
    *transfers: SeenTransfer,
    looked_at: datetime | None = None,
    stages: Sequence[Stage] = (),
    now: datetime | None = None,
) -> PageState:
    seen = MoneySeen(transfers=transfers, looked_at=looked_at, chain_ids=(8453,))
    return build_state(order, seen, now or order.created_at, strings.load(), stages)


def in_state(order: PublicOrder, status: OrderStatus, reason: str = "", **changes: Any) -> PublicOrder:
    return replace(order, status=status, status_reason=reason, **changes)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (OrderStatus.CANCELLED, StatusReason.CANCELLED_BY_VENDOR),
        (OrderStatus.CANCELLED, "paid_after_close"),
        (OrderStatus.EXPIRED, StatusReason.EXPIRED),
        (OrderStatus.FAILED, "paid_after_close"),
    ],
)
def test_money_that_came_after_the_close_is_said_with_its_hash(
    order: PublicOrder, status: OrderStatus, reason: str
) -> None:
    """Attack: a cancelled order said that nothing had been paid, and showed no hash."""
    state = shown(in_state(order, status, reason), transfer(is_after_close=True))
    assert state.title == "The money came after the order was closed"
    assert "who can refund it" in state.text
    assert state.receipt
    assert [row["text"] for row in state.receipt["rows"] if row["name"] == "arrived"] == ["21.25 USDC · Base"]
    assert [(row["hash"], row["text"]) for row in state.transactions] == [
        (HASH, "21.25 USDC arrived after the order was closed.")
    ]
    assert not state.if_paid_text
    assert state.nothing_seen_until is None


def test_a_part_that_came_before_the_merchant_cancelled_is_not_called_late(
    resources: Resources, clock: SettableClock, order: PublicOrder, merchant: Merchant
) -> None:
    """Found: the customer was told that the shop's cancellation was the customer's lateness."""
    simulate(resources, order.order_id, Action.UNDERPAY)
    for _ in range(3):
        clock.advance(seconds=6)
        watch(resources)
    cancel(resources, merchant.id, EnvMode.TEST, order.order_id)
    state = build_state(*load_order_and_money(resources, order.order_id), clock.now(), strings.load())
    assert state.title.endswith("cancelled this order")
    assert state.text.startswith("21.25 USDC · Base had arrived before")
    assert "must return it" in state.text
    assert state.receipt
    rows = {row["name"]: row["text"] for row in state.receipt["rows"]}
    assert (rows["price"], rows["missing"]) == ("42.50 USDC", "21.25 USDC")
    assert "came" in rows
    assert "arrived after" not in str(state.transactions)


def test_what_was_sent_before_the_cancellation_and_seen_after_it_is_not_called_late(
    resources: Resources, clock: SettableClock, order: PublicOrder, merchant: Merchant
) -> None:
    simulate(resources, order.order_id, Action.PAY)
    clock.advance(seconds=4)
    cancel(resources, merchant.id, EnvMode.TEST, order.order_id)
    clock.advance(seconds=6)
    watch(resources)
    state = build_state(*load_order_and_money(resources, order.order_id), clock.now(), strings.load())
    assert state.payment_order_status == OrderStatus.CANCELLED
    assert state.text.startswith("42.50 USDC · Base had arrived before")


def test_what_is_too_much_still_after_a_refund_is_said_and_nobody_is_sent_away(order: PublicOrder) -> None:
    much = replace(order, amount_received=45_000_000, amount_due=0)
    back = transfer(kind=TransferKind.REFUND, tx_hash="0x2", amount=1_000_000)
    paid = transfer(amount=45_000_000)
    refunded = shown(in_state(much, OrderStatus.SUCCESS, "partially_refunded"), paid, back)
    assert refunded.receipt
    rows = {row["name"]: row["text"] for row in refunded.receipt["rows"]}
    assert (rows["surplus"], rows["kept"], rows["excess"]) == ("2.50 USDC", "44.00 USDC", "1.50 USDC")
    overpaid = shown(in_state(much, OrderStatus.SUCCESS, StatusReason.OVERPAID), paid)
    assert (overpaid.redirect_after_s, refunded.redirect_after_s) == (None, None)
    assert shown(in_state(order, OrderStatus.SUCCESS), transfer(amount=42_500_000)).redirect_after_s == 8


def test_another_token_beside_the_payment_is_asked_back(order: PublicOrder) -> None:
    """Found: who had sent 1 ETH too was told to do nothing more, and taken back to the shop."""
    paid = in_state(order, OrderStatus.SUCCESS, amount_received=42_500_000, amount_due=0)
    right = transfer(amount=42_500_000)
    state = shown(paid, right, FOREIGN)
    assert "to return 5.00 DAI · Base" in state.text
    assert state.redirect_after_s is None
    assert state.is_wrong
    much = shown(in_state(paid, OrderStatus.SUCCESS, "overpaid", amount_received=45_000_000), right, FOREIGN)
    assert "to return 2.50 USDC, 5.00 DAI · Base" in much.text
    worthless = transfer(token_address=f"0x{'66' * 20}", amount=10**30, is_counted=False)
    assert shown(paid, right, worthless).redirect_after_s == 8


def test_times_of_a_late_payment_are_told_to_the_second(order: PublicOrder) -> None:
    """Found: three equal times."""
    late = transfer(amount=42_500_000, mined_at=order.expires_at + timedelta(seconds=5))
    state = shown(in_state(order, OrderStatus.SUCCESS, StatusReason.PAID_LATE), late)
    assert state.receipt
    rows = {row["name"]: row["text"] for row in state.receipt["rows"]}
    assert re.search(r"\d+:\d\d:05", rows["came"])
    assert rows["expired"] != rows["came"]


def test_more_money_after_success_is_said_too(order: PublicOrder) -> None:
    state = shown(in_state(order, OrderStatus.SUCCESS), transfer(), transfer(tx_hash="0x2", is_after_close=True))
    assert "More money came after that" in state.text


def test_a_part_that_went_back_is_said(order: PublicOrder) -> None:
    refund = transfer(kind=TransferKind.REFUND, tx_hash="0x2", amount=1_000_000)
    state = shown(in_state(order, OrderStatus.SUCCESS, "partially_refunded"), transfer(), refund)
    assert state.title == "Part of the money was refunded"
    assert "1.00 USDC was sent back by" in str(state.transactions[1]["text"])


def test_what_came_is_said_while_the_order_stays_payable(order: PublicOrder) -> None:
    """Also where it was too little, or the wrong thing, to change the order's status."""
    wrong = shown(order, FOREIGN)
    assert (wrong.panel, wrong.banner and wrong.banner["title"]) == ("pay", "Another token arrived")
    assert wrong.banner
    assert wrong.banner["text"].startswith("5.00 DAI · Base arrived at")
    assert wrong.leave
    assert wrong.leave["title"] == "Another token arrived"
    assert "5.00 DAI · Base arrived, which does not count. 0.00 USDC of 42.50 USDC arrived; " in wrong.leave["text"]
    short = shown(replace(order, amount_received=1, amount_due=42_499_999), transfer(amount=1))
    assert short.banner
    assert short.banner["text"].startswith("0.000001 USDC arrived, 42.499999 USDC is still due.")
    assert (short.panel, short.cancel_url is not None) == ("pay", True)
    assert short.leave
    assert short.leave["title"] == "0.000001 USDC of 42.50 USDC arrived"
    assert short.until
    assert short.until["text"] in short.leave["text"]
    assert shown(order, DEPOSIT, transfer(amount=1)).leave is None, "something is on its way"
    assert (shown(order).leave, shown(order).until) == (None, None)


def test_a_deposit_on_its_way_warns_and_does_not_keep_anybody_from_paying(order: PublicOrder) -> None:
    """Attack: one unit deposited into a bridge parked the order for nine hours."""
    created = shown(order, DEPOSIT)
    assert created.panel == "pay"
    assert created.on_its_way_text.startswith("A payment of 21.25 USDC is on its way over Across.")
    assert "If it is yours, wait for it" in created.on_its_way_text
    bridged = Stage(kind=StageKind.BRIDGED, state=StageState.NOW, began_at=START, expected_s=60)
    for seconds, is_late in ((60, False), (200, True)):
        now = START + timedelta(seconds=seconds)
        processing = shown(in_state(order, OrderStatus.PROCESSING), DEPOSIT, stages=(bridged,), now=now)
        assert (processing.panel, bool(processing.pay_anyway_text)) == ("progress", is_late)
    gone = replace(DEPOSIT, is_waiting=False)
    delivered = shown(in_state(order, OrderStatus.PROCESSING), gone, stages=(bridged,), now=now)
    assert (delivered.on_its_way_text, delivered.pay_anyway_text) == ("", "")


def test_nothing_is_called_unpaid_before_the_chains_were_read(
    resources: Resources, clock: SettableClock, order: PublicOrder, client: FlaskClient
) -> None:
    clock.advance(hours=25)
    expire_orders(resources)
    path = f"/payment/{order.order_id}/status"
    state = client.get(path).get_json()
    assert (state["payment_order_status"], state["looked_at"], state["nothing_seen_until"]) == ("expired", None, None)
    clock.advance(seconds=20)
    watch(resources)
    state = client.get(path).get_json()
    assert state["nothing_seen_until"] == state["looked_at"] == state["now"]
    clock.advance(seconds=5)
    later = client.get(path).get_json()
    assert later["looked_at"] == state["looked_at"] < later["now"]


def test_a_doubtful_block_leaves_open_what_came(resources: Resources, clock: SettableClock, order: PublicOrder) -> None:
    watch(resources)
    before = clock.now()
    with resources.database.write() as session:
        session.add(
            DoubtfulBlock(
                env_mode=EnvMode.TEST, chain_id=8453, number=1, hash="0x1", reason="bloom",
                noted_at=before, next_try_at=before + timedelta(hours=2),
            )
        )  # fmt: skip
    clock.advance(hours=1)
    watch(resources)
    assert load_order_and_money(resources, order.order_id)[1].looked_at == before
    cancelled = in_state(order, OrderStatus.CANCELLED, timeline=({"at": "2100-01-01T00:00:00.000Z"},))
    assert shown(cancelled, looked_at=before + timedelta(days=1)).nothing_seen_until is None


def test_closed_orders_with_money_say_nothing_of_none(order: PublicOrder) -> None:
    looked_at = order.expires_at + timedelta(days=1)
    assert shown(in_state(order, OrderStatus.EXPIRED), looked_at=looked_at).nothing_seen_until is not None
    assert (
        shown(in_state(order, OrderStatus.EXPIRED, amount_received=1), looked_at=looked_at).nothing_seen_until is None
    )
    assert shown(in_state(order, OrderStatus.EXPIRED), DEPOSIT, looked_at=looked_at).nothing_seen_until is None


def test_pages_that_know_nothing_say_nothing_of_payments(
    make_app: Callable[..., Flask], client: FlaskClient, order: PublicOrder
) -> None:
    """Attack: the rate-limit page and the one for unknown orders said that nothing had been paid."""
    limited = make_app(rate_limit_page=5).test_client()
    answers = [client.get("/payment/po_unknown"), *(limited.get(f"/payment/{order.order_id}") for _ in range(2))]
    assert [each.status_code for each in answers] == [404, 200, 429]
    for each in (answers[0], answers[2]):
        said = re.sub(r"<(style|script).*?</\1>|<[^>]*>", "", each.text, flags=re.S)
        assert "paid" not in said
        assert "sent" in said


@pytest.mark.parametrize(("read", "is_said"), [("FROM watch_cursors", True), ("FROM payment_orders LEFT", False)])
def test_money_that_comes_while_the_page_reads_is_said_in_both_places_or_in_none(
    resources: Resources, clock: SettableClock, order: PublicOrder, read: str, is_said: bool
) -> None:
    """Race: the page said that 0.00 of an underpaid order had arrived, and did not draw the next answer."""
    engine, came = resources.database.engine, []

    def pay(connection: object, cursor: object, statement: str, *_: object) -> None:
        if read in statement and not came:
            came.append(statement)
            simulate(resources, order.order_id, Action.UNDERPAY)
            clock.advance(seconds=60)
            watch(resources)

    event.listen(engine, "after_cursor_execute", pay)
    try:
        before, money_before = load_order_and_money(resources, order.order_id)
    finally:
        event.remove(engine, "after_cursor_execute", pay)
    after, money_after = load_order_and_money(resources, order.order_id)
    assert len(came) == 1
    assert before.amount_received == sum(row.amount for row in money_before.payments)
    assert (before.amount_received > 0) is is_said
    assert after.amount_received == sum(row.amount for row in money_after.payments) > 0
