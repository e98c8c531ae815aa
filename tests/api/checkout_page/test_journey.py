"""The stages of a payment: what its quote says, as far as the chains have shown it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.bridges.promise import Promise
from api.checkout_page.language import strings
from api.checkout_page.status.progress import describe_stages, format_elapsed
from api.domain.orders import OrderStatus
from api.domain.simulation import Action
from api.domain.transfers import CanonicalBlock, Transfer, TransferKind
from api.services.checkout.journey import Stage, StageKind, StageState, list_stages
from api.services.checkout.money_seen import MoneySeen, SeenTransfer, load_order_and_money
from api.services.checkout.quotes import quote_order
from api.services.orders.quoted import LATEST
from api.services.orders.views import PublicOrder
from api.services.resources import Resources
from api.services.settlement.crediting.built_deposits import FIELD, describe_build, is_built, remember_build
from api.services.settlement.crediting.quote_payers import remember_payer
from api.services.settlement.watching.watcher import watch
from api.services.simulator.actions import simulate
from api.storage.tables import PaymentOrder, StoredQuote
from routing_engine.reference import token_registry
from tests.api.checkout_page.test_payment_page_money import DEPOSIT, order, transfer
from tests.api.conftest import START
from tests.support.clock import SettableClock

__all__ = ["order"]
PAID = {"amount": 42_500_000, "is_settled": False}


def stages(resources: Resources, order: PublicOrder, *transfers: SeenTransfer, quote: Any = None) -> tuple[Stage, ...]:
    seen = MoneySeen(transfers=transfers, looked_at=None, chain_ids=(8453,), paid_quote=quote)
    return list_stages(resources, order, seen)


def states(found: tuple[Stage, ...]) -> dict[str, str]:
    return {stage.kind: stage.state for stage in found}


def processing(order: PublicOrder) -> PublicOrder:
    return replace(order, status=OrderStatus.PROCESSING)


def test_before_anything_is_seen_the_stages_wait(resources: Resources, order: PublicOrder) -> None:
    assert states(stages(resources, order)) == {"sent": "now", "confirmed": "todo", "received": "todo"}


def test_a_payment_on_the_merchants_chain(resources: Resources, order: PublicOrder) -> None:
    found = stages(resources, processing(order), transfer(**PAID))
    assert states(found) == {"sent": "done", "confirmed": "now", "received": "todo"}
    assert (found[0].tx_hash, found[1].began_at, found[1].expected_s) == (transfer().tx_hash, START, 4)
    assert states(stages(resources, processing(order), transfer(**PAID | {"is_settled": True})))["received"] == "now"
    done = replace(order, status=OrderStatus.SUCCESS, timeline=({"status": "success", "at": "2026-03-01T12:00:09Z"},))
    found = stages(resources, done, transfer(**PAID | {"is_settled": True}))
    assert set(states(found).values()) == {StageState.DONE}
    assert found[1].ended_at == START + timedelta(seconds=9)


def test_a_payment_over_a_bridge(resources: Resources, order: PublicOrder) -> None:
    found = stages(resources, processing(order), DEPOSIT)
    assert states(found) == {"sent": "done", "confirmed": "done", "bridged": "now", "received": "todo"}
    bridged = found[2]
    assert (bridged.protocol, bridged.chain_id, bridged.began_at, bridged.tx_hash) == ("across", 8453, START, "")
    delivery = transfer(**PAID, tx_hash="0xde", source_tx_hash=DEPOSIT.tx_hash, mined_at=START + timedelta(seconds=7))
    found = stages(resources, processing(order), replace(DEPOSIT, is_waiting=False), delivery)
    assert states(found) == {"sent": "done", "confirmed": "done", "bridged": "done", "received": "now"}
    assert (found[2].tx_hash, found[2].ended_at) == ("0xde", START + timedelta(seconds=7))
    assert found[0].tx_hash == DEPOSIT.tx_hash


def test_what_matters_is_followed_and_not_a_strangers_dust(resources: Resources, order: PublicOrder) -> None:
    dust = transfer(**PAID | {"amount": 1}, tx_hash="0xd0")
    assert stages(resources, processing(order), transfer(**PAID), dust)[0].tx_hash == transfer().tx_hash
    assert stages(resources, processing(order), dust, DEPOSIT)[0].tx_hash == DEPOSIT.tx_hash


@pytest.mark.parametrize("action", [Action.PAY, Action.BRIDGE_DELAY])
def test_the_quote_that_was_paid_is_known_again(
    resources: Resources, clock: SettableClock, order: PublicOrder, action: Action
) -> None:
    ether = token_registry.token("ETH", 42161)
    other = quote_order(resources, order.order_id, 8453, order.settlement_token_address or "")
    clock.advance(seconds=1)
    paid = quote_order(resources, order.order_id, 42161, ether.address)
    simulate(resources, order.order_id, action, quote_id=paid.quote_id)
    for _ in range(12):
        clock.advance(seconds=2)
        watch(resources)
    later = load_order_and_money(resources, order.order_id, other.quote_id)[1].paid_quote
    assert later is not None
    assert later.quote_id == paid.quote_id


def test_a_quote_that_nobody_was_given_to_sign_explains_nothing(
    resources: Resources, clock: SettableClock, order: PublicOrder
) -> None:
    """Attack: whoever has the link asks for a quote in another token, and the receipt would name that one."""
    simulate(resources, order.order_id, Action.PAY)
    quote_order(resources, order.order_id, 8453, token_registry.token("ETH", 8453).address)
    for _ in range(3):
        clock.advance(seconds=2)
        watch(resources)
    assert load_order_and_money(resources, order.order_id)[1].paid_quote is None


@pytest.mark.parametrize("after", [False, True])
def test_no_flood_of_quotes_hides_the_one_that_was_paid(
    resources: Resources, clock: SettableClock, order: PublicOrder, after: bool
) -> None:
    """Attack: whoever has the link asks for quotes without end, and has some built for wallets of his own."""

    def flood() -> None:
        for number in range(2 * LATEST):
            junk = quote_order(resources, order.order_id, 8453, token_registry.token("ETH", 8453).address)
            if number % 2:
                with resources.database.write() as session:
                    remember_payer(session, junk.quote_id, f"0x{number:040x}")

    if not after:
        flood()
    paid = quote_order(resources, order.order_id, 8453, order.settlement_token_address or "")
    simulate(resources, order.order_id, Action.PAY, quote_id=paid.quote_id)
    if after:
        flood()
    for _ in range(3):
        clock.advance(seconds=2)
        watch(resources)
    found = load_order_and_money(resources, order.order_id)[1].paid_quote
    assert found is not None
    assert found.quote_id == paid.quote_id


def test_only_what_was_built_for_its_payer_is_looked_at(resources: Resources, order: PublicOrder) -> None:
    """Attack: tens of thousands of quotes make the worker read them all for each deposit."""
    payer, thief = "0x" + "aa" * 20, "0x" + "bb" * 20
    until = datetime.fromtimestamp(START.timestamp() + 600, UTC)
    usdc = token_registry.token("USDC", 10)
    build = describe_build(
        payer=payer, chain_id=10, token_address=usdc.address, amount=43_000_000, promised_amount=42_500_000,
        fill_deadline=int(until.timestamp()),
    )  # fmt: skip
    promise = Promise(
        chain_id=order.settlement_chain_id or 0, token_address=order.settlement_token_address or "",
        recipient=order.settlement_address or "", amount=42_500_000,
    )  # fmt: skip
    block = CanonicalBlock(number=1, hash="0xb1", mined_at=START)
    deposit = Transfer(
        kind=TransferKind.DEPOSIT, chain_id=10, block=block, tx_hash="0xd1", log_index=0, token_address=usdc.address,
        sender=payer, recipient="0xb0", amount=43_000_000, promise=promise, bridge_id="across:1", fill_deadline=until,
    )  # fmt: skip
    rows = [quote_order(resources, order.order_id, 10, usdc.address).quote_id for _ in range(3)]
    with resources.database.write() as session:
        remember_build(session, rows[0], build)
        remember_payer(session, rows[1], thief)
        for unread in rows[1:]:
            session.get_one(StoredQuote, unread).body = {FIELD: [{"not": "to be read"}]}
    with resources.database.read() as session:
        row = session.get_one(PaymentOrder, order.order_id)
        assert is_built(session, row, deposit)
        assert not is_built(session, row, replace(deposit, amount=1))
        assert not is_built(session, row, replace(deposit, sender="0x" + "cc" * 20))


def test_a_payer_names_its_own_quotes_only(resources: Resources, order: PublicOrder) -> None:
    quote = quote_order(resources, order.order_id, 8453, order.settlement_token_address or "")
    _, money = load_order_and_money(resources, order.order_id, quote.quote_id)
    assert money.paid_quote is not None
    for unknown in ("qt_unknown", "x" * 5000):
        assert load_order_and_money(resources, order.order_id, unknown)[1].paid_quote is None


def test_a_stage_says_its_time_and_when_it_is_late(order: PublicOrder) -> None:
    stage = Stage(
        kind=StageKind.BRIDGED, state=StageState.NOW, chain_id=8453, protocol="across", began_at=START, expected_s=30
    )
    for elapsed, text, is_late in ((5, "0:05", False), (80, "1:20", False), (81, "1:21", True), (-3, "0:00", False)):
        now = START + timedelta(seconds=elapsed)
        (step,) = describe_stages([stage], order, now, strings.load(), "Tea")
        assert (step["elapsed"], step["is_late"], step["expected_text"]) == (text, is_late, "usually about 30 seconds")
        assert step["elapsed_s"] == max(0, elapsed)
        assert "Your money is not lost" in str(step["late_text"])
    done = replace(stage, state=StageState.DONE, ended_at=START + timedelta(seconds=61))
    (step,) = describe_stages([done], order, START, strings.load(), "Tea")
    assert (step["state_text"], step["late_text"], step["expected_text"]) == ("Done in 2 minutes", "", "")


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (59, "0:59"), (754, "12:34"), (3723, "1:02:03")])
def test_elapsed_time_is_written_as_clocks_do(seconds: int, text: str) -> None:
    assert format_elapsed(seconds) == text
