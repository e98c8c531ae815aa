"""How long a payment is expected to take: by what this service has seen, and by the quote until then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from sqlalchemy import event

from api.domain.confirmations import SIMULATED_FINAL_AFTER_S, Confirmations
from api.domain.env import EnvMode
from api.domain.orders import OrderStatus
from api.domain.payments import PaymentState
from api.domain.transfers import TransferKind
from api.services.checkout import fill_times
from api.services.checkout.fill_times import (
    KEEP,
    LOOK_S,
    MOST_TIMES,
    SAMPLES,
    Lane,
    expect_confirmation_s,
    expect_fill_s,
)
from api.services.orders.creation import NewLink, create_link
from api.services.resources import Resources
from api.storage.tables import Payment, TimelineEntry
from routing_engine.reference import token_registry
from tests.api.conftest import START, Merchant
from tests.support.clock import SettableClock

LANE = Lane(bridge="across", from_chain_id=42161, to_chain_id=8453)
NUMBERS = count(1)

Fill = Callable[..., None]


@pytest.fixture
def fill(resources: Resources, merchant: Merchant) -> Fill:
    """Write an order that was paid over a bridge as the watcher writes it."""

    def write(
        seconds: float,
        *,
        lane: Lane = LANE,
        price: int = 42_500_000,
        confirmed_s: int = 3,
        by: Merchant = merchant,
        is_built: bool = True,
        deposits: int = 1,
        **changes: Any,
    ) -> None:
        link = NewLink(
            line_items=({"title": "Tea", "quantity": 2},),
            order_price={"currency": "USDC", "amount": price, "decimals": 6},
            env_mode=EnvMode.TEST,
            success_callback_url="https://shop.example/done",
            cancel_callback_url="https://shop.example/cart",
            failure_callback_url="https://shop.example/failed",
            metadata={},
        )
        order_id = create_link(resources, by.id, link)["payment_order_id"]
        filled_at = START + timedelta(seconds=seconds)
        succeeded = {"status": OrderStatus.SUCCESS, "at": filled_at + timedelta(seconds=confirmed_s)}
        with resources.database.write() as session:
            for number in (next(NUMBERS) for _ in range(deposits)):
                bridge_id = f"{lane.bridge}:{number}"
                deposit = _row(order_id, number, lane.from_chain_id, START) | {
                    "kind": TransferKind.DEPOSIT, "bridge_id": bridge_id, "is_built": is_built,
                }  # fmt: skip
                payment = _row(order_id, number + 10**6, lane.to_chain_id, filled_at) | {
                    "kind": TransferKind.PAYMENT, "bridge_id": bridge_id, "source_tx_hash": deposit["tx_hash"],
                }  # fmt: skip
                session.add_all([Payment(**deposit), Payment(**(payment | changes))])
            session.add(TimelineEntry(order_id=order_id, **succeeded))

    return write


def _row(order_id: str, number: int, chain_id: int, mined_at: datetime) -> dict[str, Any]:
    return {
        "chain_id": chain_id, "tx_hash": f"0x{number:064x}", "log_index": 0, "order_id": order_id, "amount": 42_500_000,
        "env_mode": EnvMode.TEST, "token_address": token_registry.token("USDC", chain_id).address, "sender": "0x1",
        "recipient": "0x2", "mined_at": mined_at, "state": PaymentState.FINAL, "seen_at": mined_at,
        "updated_at": mined_at,
    }  # fmt: skip


def expect(resources: Resources, lane: Lane = LANE, quoted_s: int | None = 60) -> int | None:
    return expect_fill_s(resources, EnvMode.TEST, lane, quoted_s)


def test_the_quote_counts_until_there_is_experience(resources: Resources, fill: Fill, clock: SettableClock) -> None:
    assert (expect(resources), expect(resources, quoted_s=None)) == (60, None)
    for seconds in (4, 5):
        fill(seconds)
    clock.advance(seconds=KEEP.total_seconds())
    assert expect(resources) == 60
    fill(9)
    clock.advance(seconds=KEEP.total_seconds())
    assert expect(resources) == 5


def test_the_median_of_the_last_fills_counts(resources: Resources, fill: Fill) -> None:
    for _ in range(SAMPLES):
        fill(500)
    for seconds in [7] * (SAMPLES // 2 + 1) + [90_000] * (SAMPLES // 2):
        fill(seconds)
    assert expect(resources) == 7


def test_fills_of_another_kind_teach_nothing(resources: Resources, fill: Fill) -> None:
    others = [replace(LANE, bridge="acrossx"), replace(LANE, bridge="acr_ss"), replace(LANE, from_chain_id=10)]
    for lane in others:
        for _ in range(3):
            fill(5, lane=lane)
    for _ in range(3):
        fill(5, state=PaymentState.LOST)
        fill(5, source_tx_hash="0xother")
        fill(-5)
    assert expect(resources) == 60
    assert expect_fill_s(resources, EnvMode.LIVE, others[0], 60) == 60
    assert [expect(resources, lane) for lane in others] == [5, 5, 5]


def test_only_the_latest_transfers_are_read(resources: Resources, fill: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        fill(5)
    monkeypatch.setattr(fill_times, "RECENT", 2)
    assert expect(resources) == 60


def test_it_is_looked_up_once_a_minute(resources: Resources, fill: Fill, clock: SettableClock) -> None:
    statements: list[str] = []
    note = lambda *args: statements.append(args[2])  # noqa: E731
    event.listen(resources.database.engine, "before_cursor_execute", note)
    try:
        for _ in range(5):
            expect(resources)
            expect_confirmation_s(resources, EnvMode.TEST, 8453, 43)
        assert len([text for text in statements if "payments" in text]) == 2
        clock.advance(seconds=KEEP.total_seconds())
        expect(resources)
        assert len([text for text in statements if "payments" in text]) == 3
    finally:
        event.remove(resources.database.engine, "before_cursor_execute", note)


def test_confirmations_are_expected_by_value(resources: Resources, fill: Fill, clock: SettableClock) -> None:
    blocks = Confirmations().count_blocks(8453, 43)
    assert blocks == 1
    assert expect_confirmation_s(resources, EnvMode.TEST, 8453, 43) == 2 * blocks + LOOK_S
    assert expect_confirmation_s(resources, EnvMode.TEST, 8453, None) == SIMULATED_FINAL_AFTER_S + LOOK_S
    assert expect_confirmation_s(resources, EnvMode.LIVE, 8453, None) > 600
    for seconds in (30, 40, 50):
        fill(1, confirmed_s=seconds)
        fill(1, confirmed_s=3 * seconds, price=500_000_000)
    clock.advance(seconds=KEEP.total_seconds())
    assert expect_confirmation_s(resources, EnvMode.TEST, 8453, 43) == 40
    final = SIMULATED_FINAL_AFTER_S + LOOK_S
    assert expect_confirmation_s(resources, EnvMode.TEST, 8453, 500) == min(120, MOST_TIMES * final)
    assert expect_confirmation_s(resources, EnvMode.TEST, 8453, None) == final
    assert expect_confirmation_s(resources, EnvMode.LIVE, 8453, 43) == 4


SLOW_S = 7_200


def test_a_strangers_slow_deposits_for_one_order_teach_nothing(resources: Resources, fill: Fill) -> None:
    for _ in range(3):
        fill(5)
    fill(SLOW_S, deposits=2 * SAMPLES)
    fill(SLOW_S, deposits=2 * SAMPLES, is_built=False)
    assert expect(resources) == 5


def test_a_vendor_who_pays_itself_speaks_once(
    resources: Resources, fill: Fill, clock: SettableClock, make_merchant: Callable[[str], Merchant]
) -> None:
    for honest in (make_merchant("Tea"), make_merchant("Coffee")):
        for _ in range(3):
            fill(5, by=honest)
    evil = make_merchant("Evil")
    for _ in range(2 * SAMPLES):
        fill(SLOW_S, confirmed_s=SLOW_S, by=evil)
    assert expect(resources) == 5
    assert expect_confirmation_s(resources, EnvMode.TEST, 8453, 43) == 3


def test_what_is_learnt_goes_only_so_far_from_what_is_known(resources: Resources, fill: Fill) -> None:
    for _ in range(SAMPLES):
        fill(SLOW_S, confirmed_s=SLOW_S)
    assert expect(resources) == MOST_TIMES * 60
    assert expect_confirmation_s(resources, EnvMode.TEST, 8453, 43) == MOST_TIMES * (2 + LOOK_S)
