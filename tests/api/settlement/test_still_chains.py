"""A chain on which nothing happens is not looked at: that costs next to nothing, and nothing is seen any later."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import event

from api.domain.env import EnvMode
from api.domain.ledger import Doubt
from api.domain.transfers import CanonicalBlock, TransferKind
from api.services.settlement.watching.doubtful_blocks import note_doubts
from api.services.settlement.watching.hints import add_hint
from api.services.settlement.watching.stillness import list_still
from api.services.settlement.watching.watched_chain import CURSOR_EVERY
from api.services.settlement.watching.watcher import watch
from api.services.simulator.chain import find_number_at
from api.services.simulator.ledger import REORG_KEPT_IN_MIND
from api.storage.tables import Payment, PaymentHint, SimulatedChain, WatchCursor
from tests.support.shop import Shop
from tests.support.simulated_payments import send, undo_blocks

TEST, BASE, POLYGON = EnvMode.TEST, 8453, 137
STRANGER = "0x" + "ab" * 20
HASH = "0x" + "cd" * 32
MOST_ASKED = 25
"""Statements of a look that finds nothing, what begins transactions included."""


def list_moving(shop: Shop) -> set[int]:
    """Return the chains that want a look now."""
    ledger = shop.resources.ledgers[TEST]
    return set(ledger.chain_ids - list_still(shop.resources, TEST, ledger, ledger.chain_ids))


@pytest.fixture
def order_id(shop: Shop) -> str:
    """Of an order that waits, once every chain was read."""
    made = shop.create()
    shop.wait(1)
    assert list_moving(shop) == set()
    return made


def read_place(shop: Shop, chain_id: int) -> tuple[int, int]:
    """Return how far a chain was read, and up to which block it is closed."""
    with shop.resources.database.read() as session:
        cursor, chain = session.get_one(WatchCursor, (TEST, chain_id)), session.get_one(SimulatedChain, chain_id)
        return cursor.block_number, chain.head_number


def test_nothing_is_asked_or_written_of_a_chain_that_is_still(shop: Shop, order_id: str) -> None:
    before, asked = {each: read_place(shop, each) for each in (BASE, POLYGON)}, []
    shop.clock.advance(seconds=1)
    for engine in {shop.resources.database.engine, shop.resources.database._writer}:
        event.listen(engine, "before_cursor_execute", lambda *told: asked.append(told[2]))
    watch(shop.resources)
    assert len(asked) == 2  # for all chains together
    assert {each: read_place(shop, each) for each in (BASE, POLYGON)} == before


def test_little_is_asked_where_nothing_happened_and_the_cursor_is_to_be_written(shop: Shop, order_id: str) -> None:
    shop.clock.advance(seconds=CURSOR_EVERY.seconds + 1)
    asked: list[str] = []
    engines = {shop.resources.database.engine, shop.resources.database._writer}
    for engine in engines:
        event.listen(engine, "before_cursor_execute", lambda *told: asked.append(told[2]))
    watch(shop.resources)
    assert len(asked) <= 1 + MOST_ASKED * len(shop.resources.ledgers[TEST].chain_ids), "\n".join(asked)


def test_its_cursor_is_written_as_often_as_before(shop: Shop, order_id: str) -> None:
    shop.clock.advance(seconds=CURSOR_EVERY.total_seconds())
    assert BASE in list_moving(shop)
    watch(shop.resources)
    assert read_place(shop, BASE) == (find_number_at(shop.clock.now()),) * 2


def test_a_chain_whose_cursor_is_of_a_time_to_come_is_looked_at(shop: Shop, order_id: str) -> None:
    """The clock was set back: how old a cursor is can't be said then."""
    shop.clock.advance(seconds=-5)
    assert BASE in list_moving(shop)


def pay(shop: Shop, order_id: str) -> None:
    send(shop, order_id, 10**6)


def pay_later(shop: Shop, order_id: str) -> None:
    send(shop, order_id, 10**6, delay=timedelta(seconds=30))


def pay_a_stranger(shop: Shop, order_id: str) -> None:
    send(shop, order_id, 10**6, recipient=STRANGER)


def undo(shop: Shop, order_id: str) -> None:
    undo_blocks(shop, read_place(shop, BASE)[0])


def report(shop: Shop, order_id: str) -> None:
    with shop.resources.database.write() as session:
        add_hint(session, TEST, BASE, HASH, shop.clock.now())


def doubt(shop: Shop, order_id: str) -> None:
    block = CanonicalBlock(number=5, hash=HASH, mined_at=shop.clock.now())
    with shop.resources.database.write() as session:
        note_doubts(session, TEST, BASE, [Doubt(block=block, told_by="node")], shop.clock.now(), wait=timedelta(0))


@pytest.mark.parametrize("happen", [pay, pay_later, pay_a_stranger, undo, report, doubt])
def test_what_happens_on_a_chain_ends_its_stillness_and_no_others(
    shop: Shop, order_id: str, happen: Callable[[Shop, str], None]
) -> None:
    happen(shop, order_id)
    assert list_moving(shop) == {BASE}


def test_a_doubt_or_a_hint_that_is_put_off_does_not(shop: Shop, order_id: str) -> None:
    report(shop, order_id)
    with shop.resources.database.write() as session:
        session.get_one(PaymentHint, (TEST, BASE, HASH)).next_try_at += timedelta(seconds=2)
    assert list_moving(shop) == set()
    shop.clock.advance(seconds=2)
    assert list_moving(shop) == {BASE}


def test_it_is_still_again_once_what_happened_is_final(shop: Shop, order_id: str) -> None:
    pay(shop, order_id)
    seen = []
    for _ in range(10):
        shop.wait(1)
        seen.append((shop.payments()[0].state, list_moving(shop)))
    assert all(moving == {BASE} for state, moving in seen if state != "final")
    assert seen[-1] == ("final", set())


def test_it_is_still_again_a_while_after_a_reorganisation(shop: Shop, order_id: str) -> None:
    undo(shop, order_id)
    shop.wait(int(REORG_KEPT_IN_MIND.total_seconds()) + 1)
    assert list_moving(shop) == set()


def test_a_refund_that_a_wallet_is_to_send_ends_it(shop: Shop, order_id: str) -> None:
    pay(shop, order_id)
    shop.wait(10)
    assert list_moving(shop) == set()
    answer = shop.post(f"/api/v1/payment/{order_id}/refund", {}, Idempotency_Key="one")
    assert answer.status_code in (200, 201), answer.get_json()
    assert list_moving(shop) == {BASE}
    shop.wait(10)
    assert list_moving(shop) == set()


def test_a_deposit_whose_delivery_is_awaited_ends_it_where_it_is_to_be_delivered(shop: Shop, order_id: str) -> None:
    pay(shop, order_id)
    shop.wait(10)
    with shop.resources.database.write() as session:
        row = session.get_one(Payment, shop.payments()[0].id)
        row.kind, row.bridge_id, row.promised_chain_id = TransferKind.DEPOSIT, "across:1:7", POLYGON
        row.fill_deadline = shop.clock.now() + timedelta(hours=1)
    assert list_moving(shop) == {POLYGON}


def test_a_chain_that_was_never_read_is_looked_at(shop: Shop) -> None:
    assert list_moving(shop) == set(shop.resources.ledgers[TEST].chain_ids)
