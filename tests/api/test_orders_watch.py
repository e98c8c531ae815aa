"""What the watcher makes of the chains: one credit for each transfer, none for what a reorganisation took."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from api.app import build_app
from api.cli.commands import main
from api.domain.confirmations import Confirmations
from api.domain.env import EnvMode
from api.domain.errors import Conflict, NotFound
from api.domain.ledger import Head
from api.domain.transfers import Block, TransferKind
from api.services.orders import expiry
from api.services.orders.expiry import expire_orders
from api.services.settlement.crediting.crediting import credit
from api.services.settlement.crediting.observation import ChainObservation
from api.services.settlement.crediting.unmatched_transfers import assign, list_unmatched
from api.services.settlement.watching import watcher
from api.services.settlement.watching.watcher import watch
from api.services.simulator.chain import BLOCK_TIME, FINALITY_BLOCKS, NewTransfer, append, hold, reorganise
from api.services.simulator.ledger import SimulatedLedger
from api.services.simulator.wallet import PAYER
from api.storage.tables import Payment, PaymentOrder, SimulatedTransfer, WatchCursor
from tests.api.conftest import START, Merchant
from tests.support.shop import Shop

USDC_BASE = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
USDC_OPTIMISM = "0x0b2c639c533813f4aa9d7837caf62653d097ff85"
ETH_PRICE = {"currency": "ETH", "amount": 1, "decimals": 0}


def row_of(shop: Shop, order_id: str) -> PaymentOrder:
    with shop.resources.database.read() as session:
        return session.get_one(PaymentOrder, order_id)


def send(shop: Shop, order_id: str, amount: int, **changes: Any) -> str:
    """Move tokens on a chain as somebody's own wallet would."""
    order = row_of(shop, order_id)
    delay = changes.pop("delay", timedelta())
    fields: dict[str, Any] = {
        "kind": TransferKind.PAYMENT,
        "chain_id": order.settlement_chain_id,
        "token_address": order.settlement_token_address,
        "sender": PAYER,
        "recipient": order.settlement_address,
        "amount": amount,
        "reference": order.payment_reference,
    }
    with shop.resources.database.write() as session:
        return append(session, NewTransfer(**(fields | changes)), shop.clock.now(), delay=delay)


def reorg(shop: Shop, first: int, *lost: bytes, chain_id: int = 8453) -> None:
    with shop.resources.database.write() as session:
        reorganise(session, hold(session, chain_id)[chain_id], first, lost, shop.clock.now())


def unmatched(shop: Shop) -> list[tuple[str, str | None]]:
    return [(row.unmatched_reason, row.claimed_order_id) for row in shop.payments() if row.order_id is None]


def test_two_orders_and_two_payments_are_told_apart_by_their_references(shop: Shop) -> None:
    first, second = shop.create(), shop.create()
    send(shop, second, 10**6)
    send(shop, first, 10**6 + 7)
    shop.wait(2)
    assert [shop.order(order_id)["amount_received"] for order_id in (first, second)] == ["1000007", "1000000"]


def test_one_order_and_two_payments_add_up(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 400_000)
    send(shop, order_id, 600_000)
    shop.wait(2)
    order = shop.order(order_id)
    assert (order["payment_order_status"], order["amount_received"]) == ("success", "1000000")


def test_an_amount_proves_nothing(shop: Shop) -> None:
    """A payment without a reference is nobody's, also where only one order waits for just as much."""
    order_id = shop.create()
    send(shop, order_id, 10**6, reference=None)
    shop.wait(2)
    assert unmatched(shop) == [("no_order", None)]
    assert shop.history(order_id) == ["created/"]


@pytest.mark.parametrize("reference", [b"\x00" * 16, b"\xff" * 16])
def test_an_unknown_reference_is_kept_as_unmatched(shop: Shop, reference: bytes) -> None:
    send(shop, shop.create(), 10**6, reference=reference)
    shop.wait(2)
    assert unmatched(shop) == [("no_order", None)]


def test_a_reference_does_not_credit_what_another_vendor_received(shop: Shop, other_merchant: Merchant) -> None:
    rival = Shop(client=shop.client, resources=shop.resources, clock=shop.clock, merchant=other_merchant)
    order_id, rivals = shop.create(), rival.create()
    send(shop, order_id, 10**6, recipient=row_of(shop, rivals).settlement_address)
    shop.wait(2)
    assert unmatched(shop) == [("other_recipient", order_id)]
    assert shop.history(order_id) == ["created/"]


def test_what_nobody_receives_is_not_looked_at(shop: Shop) -> None:
    send(shop, shop.create(), 10**6, recipient="0x" + "77" * 20)
    shop.wait(2)
    assert shop.payments() == []


def test_the_right_token_on_the_wrong_chain_leaves_the_order_payable(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**6, chain_id=10, token_address=USDC_OPTIMISM)
    shop.wait(6)
    assert shop.history(order_id) == ["created/", "processing/wrong_token"]
    send(shop, order_id, 10**6)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"


def test_the_wrong_token_fails_the_order_at_its_expiry(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**6, chain_id=10, token_address=USDC_OPTIMISM)
    shop.wait(2)
    shop.clock.advance(hours=24)
    shop.wait(1)
    assert shop.history(order_id)[-1] == "failed/wrong_token"


def test_a_token_that_means_nothing_changes_nothing(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**30, token_address="0x" + "99" * 20)
    shop.wait(2)
    assert (shop.history(order_id), shop.payments()) == (["created/"], [])


def test_less_than_a_hundredth_changes_no_status_and_can_be_seen(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 9_999)
    send(shop, order_id, 9_999, chain_id=10, token_address=USDC_OPTIMISM)
    shop.wait(2)
    order = shop.order(order_id)
    assert shop.history(order_id) == ["created/"]
    assert [event["type"] for event in shop.events(order_id)] == ["payment_processing"]
    assert (order["amount_received"], order["amount_due"]) == ("9999", "990001")
    assert len(order["transfers"]) == len(order["transactions"]) == 2
    assert order["transaction_hash"] == ""


def test_the_hash_is_the_transaction_that_paid_and_not_the_dust_before_it(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 1)
    tx_hash = send(shop, order_id, 10**6)
    shop.wait(2)
    assert shop.order(order_id)["transaction_hash"] == tx_hash


@pytest.mark.parametrize("end", ["cancelled", "success", "expired"])
def test_money_for_a_closed_order_is_credited_told_and_can_be_sent_back(shop: Shop, end: str) -> None:
    order_id = shop.create()
    if end == "cancelled":
        shop.post(f"/api/v1/payment/{order_id}/cancel")
    elif end == "success":
        send(shop, order_id, 10**6)
        shop.wait(2)
    else:
        shop.wait(1)
        shop.clock.advance(hours=48, minutes=2)
        shop.wait(1)
    before = shop.order(order_id)
    tx_hash = send(shop, order_id, 10**6)
    shop.wait(6)
    order, event = shop.order(order_id), shop.events(order_id)[-1]
    assert (order["payment_order_status"], order["status_reason"]) == (end, "paid_after_close")
    assert int(order["amount_received"]) == int(before["amount_received"]) + 10**6
    assert (event["type"], event["data"]["status_reason"]) == ("payment_failed", "paid_after_close")
    assert event["data"]["transactions"][-1]["hash"] == tx_hash
    transfer = order["transfers"][-1]
    answer = shop.post(f"/api/v1/payment/{order_id}/refund", {"transfer": transfer["id"]})
    assert answer.status_code == 200, answer.get_json()
    assert unmatched(shop) == []


def test_more_money_for_a_closed_order_is_told_again_unless_it_is_dust(shop: Shop) -> None:
    order_id = shop.create()
    shop.post(f"/api/v1/payment/{order_id}/cancel")
    told = []
    for amount in (10**6, 10**6, 1):
        send(shop, order_id, amount)
        shop.wait(6)
        told.append([event["type"] for event in shop.events(order_id)].count("payment_failed"))
    assert told == [2, 3, 3]


def test_money_within_a_day_of_expiry_counts_and_later_does_not(shop: Shop) -> None:
    early, late = shop.create(), shop.create()
    shop.clock.advance(hours=48, seconds=-2)
    shop.wait(1)
    send(shop, early, 10**6)
    send(shop, late, 10**6, delay=timedelta(seconds=2))
    shop.wait(5)
    assert shop.history(early)[-1] == "success/paid_late"
    assert shop.history(late)[-1] == "expired/paid_after_close"


def test_a_payment_made_just_before_expiry_is_not_expired_first(shop: Shop) -> None:
    order_id = shop.create()
    shop.wait(1)
    shop.clock.set(START + timedelta(hours=24, milliseconds=-500))
    send(shop, order_id, 10**6)
    shop.clock.set(START + timedelta(hours=24))
    expire_orders(shop.resources)
    assert shop.history(order_id) == ["created/"]
    shop.wait(2)
    assert shop.history(order_id) == ["created/", "processing/", "success/"]


def test_an_order_expires_even_when_its_chain_does_not_answer(shop: Shop) -> None:
    order_id = shop.create()
    shop.clock.advance(hours=24, seconds=59)
    expire_orders(shop.resources)
    assert shop.history(order_id) == ["created/"]
    shop.clock.advance(seconds=1)
    expire_orders(shop.resources)
    assert shop.history(order_id) == ["created/", "expired/expired"]


def test_an_order_without_chain_expires_too(shop: Shop) -> None:
    order_id = shop.create_live()
    shop.clock.advance(hours=24, minutes=1)
    expire_orders(shop.resources)
    assert shop.order(order_id, env_mode="live")["payment_order_status"] == "expired"


def test_many_orders_expire_in_one_run(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [shop.create() for _ in range(7)]
    shop.clock.advance(hours=25)
    monkeypatch.setattr(expiry, "BATCH", 3)
    expire_orders(shop.resources)
    assert {shop.order(order_id)["payment_order_status"] for order_id in made} == {"expired"}


@pytest.mark.parametrize(
    ("price", "chain", "blocks"),
    [
        ({"currency": "USDC", "amount": 100, "decimals": 0}, 8453, 1),
        ({"currency": "USDC", "amount": 101, "decimals": 0}, 8453, 6),
        ({"currency": "USDC", "amount": 1001, "decimals": 0}, 8453, FINALITY_BLOCKS + 1),
        (ETH_PRICE, 8453, FINALITY_BLOCKS + 1),
    ],
)
def test_confirmations_follow_the_value(shop: Shop, price: dict[str, Any], chain: int, blocks: int) -> None:
    order_id = shop.create(order_price=price)
    order = row_of(shop, order_id)
    assert order.settlement_chain_id == chain
    send(shop, order_id, int(order.amount_due or 0))
    needed = max(blocks, 2)  # the block is looked at once more before anything is promised
    for _ in range(needed - 1):
        shop.clock.advance(seconds=BLOCK_TIME.total_seconds())
        watch(shop.resources)
        assert shop.history(order_id)[-1] == "processing/"
    shop.clock.advance(seconds=BLOCK_TIME.total_seconds())
    watch(shop.resources)
    assert shop.history(order_id)[-1] == "success/"


def test_confirmations_are_a_setting(shop: Shop) -> None:
    patient = replace(
        shop.resources, config=replace(shop.resources.config, confirmations=Confirmations.parse("*:100=5,1000=6"))
    )
    order_id = shop.create()
    send(shop, order_id, 10**6)
    for _ in range(4):
        shop.clock.advance(seconds=BLOCK_TIME.total_seconds())
        watch(patient)
    assert shop.history(order_id)[-1] == "processing/"
    shop.clock.advance(seconds=BLOCK_TIME.total_seconds())
    watch(patient)
    assert shop.history(order_id)[-1] == "success/"


def test_looking_again_changes_nothing(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**6)
    shop.wait(5)
    before = (shop.order(order_id), shop.events(order_id))
    with shop.resources.database.write() as session:
        for cursor in session.scalars(select(WatchCursor)):
            cursor.block_number = cursor.final_number = 0
            cursor.block_hash = ""
    shop.wait(3)
    assert (shop.order(order_id), shop.events(order_id)) == before
    assert len(shop.payments()) == 1


def test_what_the_reorganisation_keeps_stays_credited(shop: Shop) -> None:
    lost, kept = shop.create(order_price=ETH_PRICE), shop.create(order_price=ETH_PRICE)
    send(shop, lost, 10**18)
    send(shop, kept, 10**18)
    shop.wait(1)
    block = shop.payments()[0].block_number or 0
    reorg(shop, block, row_of(shop, lost).payment_reference)
    shop.wait(1)
    assert shop.history(lost) == ["created/", "processing/", "created/reorged"]
    assert shop.history(kept) == ["created/", "processing/"]
    shop.wait(4)
    assert shop.history(kept)[-1] == "success/"
    assert {row.state for row in shop.payments()} == {"final", "reorged"}
    assert len(shop.payments()) == 2


def test_a_payment_lost_and_mined_again_is_credited_once(shop: Shop) -> None:
    order_id = shop.create(order_price=ETH_PRICE)
    tx_hash = send(shop, order_id, 10**18)
    shop.wait(1)
    first = shop.payments()[0]
    reorg(shop, first.block_number or 0, row_of(shop, order_id).payment_reference)
    shop.wait(1)
    assert shop.order(order_id)["amount_received"] == "0"
    with shop.resources.database.write() as session:
        again = session.get_one(Payment, first.id)
        assert (again.state, again.block_number) == ("reorged", None)
    lost = [row for row in _all_transfers(shop) if row.tx_hash == tx_hash]
    _mine_again(shop, lost[0])
    shop.wait(5)
    assert shop.history(order_id) == ["created/", "processing/", "created/reorged", "processing/", "success/"]
    assert shop.order(order_id)["amount_received"] == str(10**18)
    assert len(shop.payments()) == 1


def test_a_reorganisation_while_the_chain_is_read_loses_nothing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block of the payment is replaced between the reading of the transfers and the writing of the cursor."""
    order_id = shop.create(order_price=ETH_PRICE)
    send(shop, order_id, 10**18)
    original, changed = SimulatedLedger.read, []

    def read_and_change(ledger: SimulatedLedger, chain_id: int, *args: Any) -> Any:
        reading = original(ledger, chain_id, *args)
        if reading.transfers and not changed:
            changed.append(reorg(shop, reading.transfers[0].block.number))
        return reading

    monkeypatch.setattr(SimulatedLedger, "read", read_and_change)
    shop.wait(6)
    assert changed
    assert shop.history(order_id) == ["created/", "processing/", "success/"]
    assert shop.order(order_id)["amount_received"] == str(10**18)


def test_a_head_that_went_back_is_followed(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two nodes behind one address may not be equally far."""
    order_id = shop.create(order_price=ETH_PRICE)
    send(shop, order_id, 10**18)
    shop.wait(2)
    original = SimulatedLedger.read_head

    def behind(ledger: SimulatedLedger, chain_id: int) -> Any:
        now = original(ledger, chain_id)
        number = now.block.number - 6
        return replace(now, block=ledger.read_blocks(chain_id, [number])[number])

    with monkeypatch.context() as patch:
        patch.setattr(SimulatedLedger, "read_head", behind)
        shop.wait(1)
    assert shop.history(order_id)[-1] == "processing/"
    shop.wait(4)
    assert shop.history(order_id) == ["created/", "processing/", "success/"]
    assert len(shop.payments()) == 1


def test_a_deposit_for_nobodys_order_is_nobodys_business(shop: Shop) -> None:
    send(shop, shop.create(), 5, kind=TransferKind.DEPOSIT, reference=b"?" * 16)
    shop.wait(2)
    assert shop.payments() == []


def test_a_reorganisation_after_expiry_ends_the_order(shop: Shop) -> None:
    order_id = shop.create(order_price=ETH_PRICE)
    shop.clock.set(START + timedelta(hours=24, seconds=-2))
    send(shop, order_id, 10**18)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "processing/"
    reorg(shop, shop.payments()[0].block_number or 0, row_of(shop, order_id).payment_reference)
    shop.wait(12)  # until every chain is known to have been read
    assert shop.history(order_id)[-2:] == ["created/reorged", "expired/expired"]


def test_a_block_is_checked_until_the_payment_is_final_and_not_after(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**6)
    shop.wait(5)
    assert shop.history(order_id)[-1] == "success/"
    reorg(shop, shop.payments()[0].block_number or 0, row_of(shop, order_id).payment_reference)
    shop.wait(5)
    assert shop.history(order_id)[-1] == "success/"


def lose(shop: Shop, order_id: str) -> Payment:
    """Let the chain lose the payment of an order that has just succeeded."""
    send(shop, order_id, 10**6)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"
    payment = shop.payments()[0]
    reorg(shop, payment.block_number or 0, row_of(shop, order_id).payment_reference)
    shop.wait(1)
    return payment


def test_a_payment_lost_after_success_is_told_to_vendor_and_operator(shop: Shop) -> None:
    order_id = shop.create()
    payment = lose(shop, order_id)
    order, event = shop.order(order_id), shop.events(order_id)[-1]
    assert (order["payment_order_status"], order["status_reason"]) == ("success", "reorged")
    assert (order["amount_due"], order["amount_received"]) == ("1000000", "0")
    assert (event["type"], event["data"]["payment_order_status"]) == ("payment_failed", "success")
    with shop.resources.database.read() as session:
        (listed,) = list_unmatched(session, EnvMode.TEST)
    assert (listed["reason"], listed["claimed_order_id"]) == ("lost", order_id)
    metrics = build_app(shop.resources).test_client().get("/metrics").get_data(as_text=True)
    assert 'checkout_payments_lost{env_mode="test"} 1.0' in metrics
    assert listed["transaction_hash"] == payment.tx_hash


def test_an_order_whose_payment_was_lost_takes_another(shop: Shop) -> None:
    order_id = shop.create()
    lose(shop, order_id)
    send(shop, order_id, 10**6)
    shop.wait(2)
    assert shop.history(order_id)[-3:] == ["success/", "success/reorged", "success/"]
    assert [event["type"] for event in shop.events(order_id)][-3:] == [
        "payment_success",
        "payment_failed",
        "payment_success",
    ]


def test_a_ledger_that_is_behind_neither_loses_nor_doubles(shop: Shop) -> None:
    """A node may answer with an older head than another did a moment ago."""
    order_id = shop.create(order_price=ETH_PRICE)
    send(shop, order_id, 10**18)
    shop.wait(1)
    payment = shop.payments()[0]
    old = Head(block=Block(number=5, hash="0x05", mined_at=START), final_number=0)
    behind = ChainObservation(
        env_mode="test",
        chain_id=8453,
        head=old,
        canonical={},
        transfers=(),
        reached_at=shop.clock.now(),
        recipients=frozenset(),
    )
    with shop.resources.database.write() as session:
        credit(session, behind, Confirmations(), shop.clock.now())
    assert shop.payments()[0].state == payment.state == "seen"


def test_a_worker_that_was_away_catches_up(shop: Shop) -> None:
    order_id = shop.create()
    shop.wait(1)
    send(shop, order_id, 10**6)
    shop.clock.advance(hours=5)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"
    (processing,) = [row for row in shop.order(order_id)["timeline"] if row["status"] == "processing"]
    assert processing["at"] > "2026-03-01T17"


def test_a_worker_that_starts_late_reads_from_the_oldest_order(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 10**6)
    shop.clock.advance(hours=30)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"


def test_each_chain_is_read_once_whatever_the_number_of_orders(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in ("read_head", "read_blocks", "read"):
        method = getattr(SimulatedLedger, name)

        def counted(*args: Any, _name: str = name, _method: Callable[..., Any] = method, **kwargs: Any) -> Any:
            calls.append(_name)
            return _method(*args, **kwargs)

        monkeypatch.setattr(SimulatedLedger, name, counted)

    def calls_of_a_run(orders: int) -> dict[str, int]:
        for order_id in [shop.create() for _ in range(orders)]:
            send(shop, order_id, 10**6)
        shop.wait(1)
        calls.clear()
        shop.wait(1)
        return {name: calls.count(name) for name in set(calls)}

    few, many = calls_of_a_run(1), calls_of_a_run(25)
    assert few == many
    assert many["read_head"] == 5
    assert many["read"] <= 5


def test_long_gaps_are_read_in_pieces(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    order_id = shop.create()
    shop.wait(1)
    send(shop, order_id, 400_000)
    send(shop, order_id, 600_000, delay=timedelta(seconds=30))
    monkeypatch.setattr(SimulatedLedger, "span", 7)
    shop.clock.advance(seconds=60)
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"
    with shop.resources.database.read() as session:
        cursor = session.get_one(WatchCursor, ("test", 8453))
    ledger = SimulatedLedger(shop.resources.database, shop.clock)
    assert cursor.block_number == ledger.read_head(8453).block.number


def test_a_quiet_chain_is_not_written_each_second(shop: Shop) -> None:
    shop.create()
    shop.wait(1)
    with shop.resources.database.read() as session:
        before = session.get_one(WatchCursor, ("test", 137)).updated_at
    shop.wait(3)
    with shop.resources.database.read() as session:
        assert session.get_one(WatchCursor, ("test", 137)).updated_at == before
    shop.clock.advance(seconds=watcher.CURSOR_EVERY.total_seconds())
    shop.wait(1)
    with shop.resources.database.read() as session:
        assert session.get_one(WatchCursor, ("test", 137)).updated_at == shop.clock.now()


def test_an_unmatched_payment_can_be_assigned_once(shop: Shop) -> None:
    first, second = shop.create(), shop.create()
    send(shop, first, 10**6, reference=None)
    shop.wait(5)
    (payment,) = shop.payments()
    with shop.resources.database.write() as session:
        assert assign(session, payment.id, first, shop.clock.now()) == "success"
    assert shop.history(first) == ["created/", "processing/", "success/"]
    for order_id in (first, second):
        with pytest.raises(Conflict, match="belongs to"), shop.resources.database.write() as session:
            assign(session, payment.id, order_id, shop.clock.now())


def test_a_payment_can_be_assigned_to_an_order_that_is_closed_or_waits_for_another_token(shop: Shop) -> None:
    closed, other = shop.create(), shop.create(order_price=ETH_PRICE)
    shop.post(f"/api/v1/payment/{closed}/cancel")
    for order_id in (closed, other):
        send(shop, order_id, 10**6, reference=None, token_address=USDC_BASE)
    shop.wait(5)
    now = shop.clock.now()
    with shop.resources.database.write() as session:
        first, second = (row.id for row in session.scalars(select(Payment).order_by(Payment.id)))
        assert assign(session, first, closed, now) == "cancelled"
        assert assign(session, second, other, now) == "processing"
    assert shop.history(closed)[-1] == "cancelled/paid_after_close"
    assert shop.history(other)[-1] == "processing/wrong_token"


def test_what_can_not_be_assigned(shop: Shop, other_merchant: Merchant) -> None:
    rival = Shop(client=shop.client, resources=shop.resources, clock=shop.clock, merchant=other_merchant)
    order_id, rivals = shop.create(), rival.create()
    send(shop, order_id, 10**6, reference=b"?" * 16)
    shop.wait(2)
    (payment,) = shop.payments()
    now = shop.clock.now()
    with shop.resources.database.write() as session:
        for missing in ((payment.id, "po_nothing"), (payment.id + 1, order_id)):
            with pytest.raises(NotFound):
                assign(session, *missing, now)
        with pytest.raises(Conflict, match="The payment went to"):
            assign(session, payment.id, rivals, now)
    with shop.resources.database.write() as session:
        session.get_one(Payment, payment.id).state = "reorged"
        session.flush()
        with pytest.raises(Conflict, match="not on its chain"):
            assign(session, payment.id, order_id, now)


def test_the_operator_lists_and_assigns(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", shop.resources.config.database_url)
    order_id = shop.create(expires_at="2026-03-31T12:00:00Z")
    tx_hash = send(shop, order_id, 10**6, reference=b"?" * 16)
    shop.wait(5)
    run = CliRunner().invoke
    listed = run(main, ["payments", "unmatched", "--env", "test", "--json"])
    row = json.loads(listed.stdout)
    assert (row["transaction_hash"], row["amount"], row["reason"]) == (tx_hash, "1000000", "no_order")
    assert tx_hash in run(main, ["payments", "unmatched", "--env", "test"]).stdout
    done = run(main, ["payments", "assign", row["payment_id"], order_id])
    assert done.exit_code == 0, done.output
    assert "success" in done.stdout
    assert "Every payment belongs to an order" in run(main, ["payments", "unmatched", "--env", "test"]).stderr
    again = run(main, ["payments", "assign", row["payment_id"], order_id])
    assert again.exit_code == 1


def _all_transfers(shop: Shop) -> list[Any]:
    with shop.resources.database.read() as session:
        return list(session.scalars(select(SimulatedTransfer)))


def _mine_again(shop: Shop, lost: Any) -> None:
    tx_hash = send(shop, row_of_reference(shop, lost.reference), lost.amount)
    with shop.resources.database.write() as session:
        row = session.scalars(select(SimulatedTransfer).where(SimulatedTransfer.tx_hash == tx_hash)).one()
        row.tx_hash = lost.tx_hash


def row_of_reference(shop: Shop, reference: bytes) -> str:
    with shop.resources.database.read() as session:
        return session.scalars(select(PaymentOrder.id).where(PaymentOrder.payment_reference == reference)).one()
