"""How far each chain was read: a worker that was away, a ledger that is behind, gaps and quiet chains."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from api.domain.confirmations import Confirmations
from api.domain.ledger import Head
from api.domain.transfers import CanonicalBlock
from api.services.settlement.crediting.crediting import credit
from api.services.settlement.crediting.observation import ChainObservation
from api.services.settlement.watching import watcher
from api.services.simulator.ledger import SimulatedLedger
from api.storage.tables import WatchCursor
from tests.api.conftest import START
from tests.support.shop import Shop
from tests.support.simulated_payments import ETH_PRICE, send


def test_a_ledger_that_is_behind_neither_loses_nor_doubles(shop: Shop) -> None:
    """A node may answer with an older head than another did a moment ago."""
    order_id = shop.create(order_price=ETH_PRICE)
    send(shop, order_id, 10**18)
    shop.wait(1)
    payment = shop.payments()[0]
    old = Head(block=CanonicalBlock(number=5, hash="0x05", mined_at=START), final_number=0)
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
    assert many["read_head"] == 1  # of five chains: nothing happens on the others
    assert many["read"] <= 1


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
