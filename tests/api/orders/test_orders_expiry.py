"""When an order ends: money that comes late, expiry, and how many confirmations a payment waits for."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from api.domain.confirmations import Confirmations
from api.domain.env import EnvMode
from api.services.orders import expiry
from api.services.orders.expiry import PATIENCE, expire_orders
from api.services.settlement.watching.watcher import watch
from api.services.simulator.chain import BLOCK_TIME, FINALITY_BLOCKS
from api.services.simulator.ledger import SimulatedLedger
from api.storage.tables import WatchCursor
from tests.api.conftest import START
from tests.support.shop import Shop
from tests.support.simulated_payments import ETH_PRICE, list_unmatched_reasons, read_order, send


@pytest.mark.rule("closed.1", "closed.2", "closed.3", "closed.4", "closed.5")
@pytest.mark.parametrize("end", ["cancelled", "success", "expired", "failed", "refunded"])
def test_money_for_a_closed_order_is_credited_told_and_can_be_sent_back(shop: Shop, end: str) -> None:
    order_id = shop.create()
    if end == "cancelled":
        shop.post(f"/api/v1/payment/{order_id}/cancel")
    elif end == "success":
        send(shop, order_id, 10**6)
        shop.wait(2)
    elif end == "failed":
        shop.simulate(order_id, "bridge_fail")
        shop.wait(6)
    elif end == "refunded":
        send(shop, order_id, 10**6)
        shop.wait(6)
        shop.post(f"/api/v1/payment/{order_id}/refund")
        shop.wait(6)
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
    assert list_unmatched_reasons(shop) == []


@pytest.mark.rule("closed.4")
def test_more_money_for_a_closed_order_is_told_again_unless_it_is_dust(shop: Shop) -> None:
    order_id = shop.create()
    shop.post(f"/api/v1/payment/{order_id}/cancel")
    told = []
    for amount in (10**6, 10**6, 1):
        send(shop, order_id, amount)
        shop.wait(6)
        told.append([event["type"] for event in shop.events(order_id)].count("payment_failed"))
    assert told == [2, 3, 3]


@pytest.mark.rule("states.11")
def test_money_within_a_day_of_expiry_counts_and_later_does_not(shop: Shop) -> None:
    early, late = shop.create(), shop.create()
    shop.clock.advance(hours=48, seconds=-2)
    shop.wait(1)
    send(shop, early, 10**6)
    send(shop, late, 10**6, delay=timedelta(seconds=2))
    shop.wait(3)
    shop.wait(3)
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


@pytest.mark.rule("states.10")
def test_an_order_expires_even_when_its_chain_does_not_answer(shop: Shop) -> None:
    order_id = shop.create()
    shop.clock.advance(hours=24, seconds=59)
    expire_orders(shop.resources)
    assert shop.history(order_id) == ["created/"]
    shop.clock.advance(seconds=1)
    expire_orders(shop.resources)
    assert shop.history(order_id) == ["created/", "expired/expired"]


@pytest.mark.parametrize("away", ["the merchant's", "another", "all"])
def test_a_short_order_waits_for_a_chain_that_nobody_reads(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, away: str
) -> None:
    """It is connected no more, or has never been read: it may come back with the rest of the price."""
    order_id = shop.create()
    send(shop, order_id, 10**6 // 2)
    shop.wait(2)
    ledger = shop.resources.ledgers[EnvMode.TEST]
    settled = read_order(shop, order_id).settlement_chain_id
    connected = {"the merchant's": ledger.chain_ids - {settled}, "another": ledger.chain_ids | {7}, "all": frozenset()}
    with monkeypatch.context() as patch:
        patch.setattr(SimulatedLedger, "chain_ids", connected[away])
        for left, status in ((PATIENCE, "processing/underpaid"), (timedelta(0), "failed/underpaid")):
            shop.clock.set(START + timedelta(hours=24) + PATIENCE - min(left, timedelta(seconds=1)))
            read_cursors(shop)
            expire_orders(shop.resources)
            assert shop.history(order_id)[-1] == status


def read_cursors(shop: Shop) -> None:
    """Let every chain that was read once have been read up to now."""
    with shop.resources.database.write() as session:
        for cursor in session.scalars(select(WatchCursor)):
            cursor.mined_at = shop.clock.now()


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


@pytest.mark.rule("states.6", "confirmations.3", "confirmations.4")
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
    order = read_order(shop, order_id)
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


@pytest.mark.rule("confirmations.5")
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
