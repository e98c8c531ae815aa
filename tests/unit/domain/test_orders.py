"""The order's life: named cases, and properties over every history that can happen."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.domain.errors import Conflict
from api.domain.events import EVENT_OF, EventType, event_of
from api.domain.funds import NO_FUNDS, Credit, Funds, add_up
from api.domain.ledger import TransferKind
from api.domain.orders import (
    LATE_WINDOW,
    OPEN,
    TRANSITIONS,
    OrderState,
    OrderStatus,
    StatusReason,
    Step,
    advance,
    change,
    takes_payment,
)

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
EXPIRY = START + timedelta(hours=24)
SOON = START + timedelta(minutes=5)
LATE = EXPIRY + timedelta(hours=1)
TERMINAL = frozenset(OrderStatus) - OPEN - {OrderStatus.SUCCESS}


REASON_CHANGES = frozenset({OrderStatus.PROCESSING, OrderStatus.SUCCESS})
"""Statuses whose reason may change while they stay."""


def order(status: str = "created", reason: str = "", amount: int | None = 100) -> OrderState:
    return OrderState(status=OrderStatus(status), reason=StatusReason(reason), amount=amount, expires_at=EXPIRY)


def paid(seen: int, *, final: bool = True, at: datetime = SOON) -> Funds:
    return Funds(seen=seen, final=seen if final else 0, first_at=at)


def steps(state: OrderState, funds: Funds, now: datetime = SOON) -> list[str]:
    return [f"{step.status}/{step.reason}" for step in advance(state, funds, now)]


CASES: dict[str, tuple[OrderState, Funds, datetime, list[str]]] = {
    "nothing happens": (order(), NO_FUNDS, SOON, []),
    "seen": (order(), paid(100, final=False), SOON, ["processing/"]),
    "seen and final at once": (order(), paid(100), SOON, ["processing/", "success/"]),
    "final": (order("processing"), paid(100), SOON, ["success/"]),
    "overpaid": (order("processing"), paid(101), SOON, ["success/overpaid"]),
    "short": (order(), paid(99), SOON, ["processing/underpaid"]),
    "short, nothing new": (order("processing", "underpaid"), paid(99), SOON, []),
    "topped up, not final yet": (order("processing", "underpaid"), paid(100, final=False), SOON, ["processing/"]),
    "short at expiry": (order("processing", "underpaid"), paid(99), EXPIRY, ["failed/underpaid"]),
    "paid in full at expiry, not final yet": (order("processing"), paid(100, final=False), EXPIRY, []),
    "unpaid at expiry": (order(), NO_FUNDS, EXPIRY, ["expired/expired"]),
    "unpaid a moment before": (order(), NO_FUNDS, EXPIRY - timedelta(microseconds=1), []),
    "paid late": (order("expired", "expired"), paid(100, at=LATE), LATE, ["processing/paid_late", "success/paid_late"]),
    "seen in time, found late": (order("expired", "expired"), paid(100), LATE, ["processing/", "success/"]),
    "paid late and short": (order("expired", "expired"), paid(9, at=LATE), LATE, ["processing/underpaid"]),
    "short a day after expiry": (
        order("processing", "underpaid"),
        paid(9, at=LATE),
        EXPIRY + LATE_WINDOW,
        ["failed/underpaid"],
    ),
    "paid too late": (order("expired", "expired"), paid(100, at=EXPIRY + timedelta(hours=25)), LATE, []),
    "reorged": (order("processing"), NO_FUNDS, SOON, ["created/reorged"]),
    "reorged after expiry": (order("processing"), NO_FUNDS, LATE, ["created/reorged", "expired/expired"]),
    "paid again after a reorg": (order("created", "reorged"), paid(100), SOON, ["processing/", "success/"]),
    "deposited": (order(), Funds(first_at=SOON, in_flight=True), SOON, ["processing/"]),
    "deposited, past expiry": (order("processing"), Funds(first_at=SOON, in_flight=True), LATE, []),
    "bridge gave back": (order("processing"), Funds(first_at=SOON, returned=True), SOON, ["failed/route_failed"]),
    "wrong token": (order(), Funds(first_at=SOON, foreign=True), SOON, ["processing/wrong_token"]),
    "wrong token, final": (
        order("processing", "wrong_token"),
        Funds(first_at=SOON, foreign=True, foreign_final=True),
        SOON,
        ["failed/wrong_token"],
    ),
    "wrong token, then the right one": (
        order("processing", "wrong_token"),
        replace(paid(100), foreign=True, foreign_final=True),
        SOON,
        ["success/"],
    ),
    "success, lost": (order("success"), NO_FUNDS, SOON, ["success/reorged"]),
    "success, in part lost": (order("success", "overpaid"), paid(99), SOON, ["success/reorged"]),
    "success, still lost": (order("success", "reorged"), paid(100, final=False), SOON, []),
    "success, lost and found": (order("success", "reorged"), paid(100), SOON, ["success/"]),
    "refund under way": (replace(order("success"), refund_amount=100), replace(paid(100), refunded=99), SOON, []),
    "refunded": (replace(order("success"), refund_amount=100), replace(paid(100), refunded=100), SOON, ["refunded/"]),
    "refund not asked for": (order("success"), replace(paid(100), refunded=100), SOON, []),
    "rejected": (order(), Funds(first_at=SOON, rejected=True), SOON, ["processing/screening_rejected"]),
    "rejected, final": (
        order("processing", "screening_rejected"),
        Funds(first_at=SOON, rejected=True, rejected_final=True),
        SOON,
        ["failed/screening_rejected"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_named_case(name: str) -> None:
    state, funds, now, expected = CASES[name]
    assert steps(state, funds, now) == expected


def test_every_transition_of_the_interface_and_no_other() -> None:
    assert {(str(a), str(b)) for a, targets in TRANSITIONS.items() for b in targets} == {
        ("created", "processing"),
        ("created", "expired"),
        ("created", "cancelled"),
        ("processing", "success"),
        ("processing", "failed"),
        ("processing", "created"),
        ("expired", "processing"),
        ("success", "refunded"),
    }


@pytest.mark.parametrize("target", OrderStatus)
@pytest.mark.parametrize("status", OrderStatus)
def test_a_person_can_ask_for_no_other_change(status: OrderStatus, target: OrderStatus) -> None:
    state = order(status)
    if target in TRANSITIONS[status]:
        assert change(state, target).status == target
    else:
        with pytest.raises(Conflict, match=f"is {status} and can't become {target}"):
            change(state, target)


def test_what_still_takes_a_payment() -> None:
    last = EXPIRY + LATE_WINDOW
    assert takes_payment(order(), SOON)
    assert takes_payment(order("expired"), last)
    assert not takes_payment(order("expired"), last + timedelta(seconds=1))
    assert not takes_payment(order(amount=None), SOON)
    assert not any(takes_payment(order(status), SOON) for status in TERMINAL | {OrderStatus.SUCCESS})
    assert takes_payment(order("success", "reorged"), SOON)


def test_a_lost_payment_is_told_as_a_failure() -> None:
    assert event_of(OrderStatus.SUCCESS, StatusReason.REORGED) == EventType.FAILED
    assert event_of(OrderStatus.SUCCESS, StatusReason.OVERPAID) == EventType.SUCCESS


def test_each_status_but_refunded_has_its_event() -> None:
    assert set(OrderStatus) - set(EVENT_OF) == {OrderStatus.REFUNDED}
    assert {status for status, kind in EVENT_OF.items() if kind == EventType.FAILED} == {
        "failed",
        "expired",
        "cancelled",
    }


moments = st.integers(0, 80).map(lambda hours: START + timedelta(hours=hours))


@st.composite
def transfers(draw: st.DrawFn) -> Credit:
    source = draw(st.sampled_from([None, "0xd1", "0xd2"]))
    kind = draw(st.sampled_from(TransferKind))
    return Credit(
        kind=kind,
        amount=draw(st.integers(1, 150)),
        is_settlement_token=draw(st.booleans()),
        is_final=draw(st.booleans()),
        tx_hash=draw(st.sampled_from(["0xd1", "0xd2"])) if kind == TransferKind.DEPOSIT else "0xp",
        source_tx_hash=None if kind == TransferKind.DEPOSIT else source,
        mined_at=draw(moments),
    )


histories = st.lists(st.tuples(st.lists(transfers(), max_size=4), moments), max_size=8)


@given(histories=histories, amount=st.integers(1, 200))
def test_whatever_happens_only_allowed_changes_are_made(
    histories: list[tuple[list[Credit], datetime]], amount: int
) -> None:
    """Blocks come and go, time jumps: the state machine never leaves its map, and terminal states stay."""
    state = order(amount=amount)
    for credits, now in histories:
        funds = add_up(credits)
        before = state
        for step in advance(state, funds, now):
            allowed = step.status in TRANSITIONS[state.status] or step.status == state.status in REASON_CHANGES
            assert allowed, (state, step)
            assert step != Step(status=state.status, reason=state.reason)
            state = replace(state, status=step.status, reason=step.reason)
            if state.status == OrderStatus.SUCCESS and state.reason != StatusReason.REORGED:
                assert sum(row.amount for row in credits if _counts(row) and row.is_final) >= amount
            if state.status == OrderStatus.FAILED:
                assert sum(row.amount for row in credits if _counts(row)) < amount
        if before.status in TERMINAL:
            assert state == before
        if before.status == OrderStatus.SUCCESS:
            assert state.status == OrderStatus.SUCCESS
            assert (state.reason == StatusReason.REORGED) == (funds.final < amount)
        assert advance(state, funds, now) == ()


@given(credits=st.lists(transfers(), max_size=6))
def test_money_is_counted_once_and_only_if_it_reached_the_merchant(credits: list[Credit]) -> None:
    funds = add_up(credits)
    assert funds.seen == sum(row.amount for row in credits if _counts(row))
    assert 0 <= funds.final <= funds.seen
    assert (funds.first_at is None) == all(row.kind == TransferKind.REFUND for row in credits)
    assert funds.refunded == sum(row.amount for row in credits if row.kind == TransferKind.REFUND and row.is_final)


@given(credits=st.permutations([*range(4)]), data=st.data())
def test_the_order_of_arrival_does_not_matter(credits: list[int], data: st.DataObject) -> None:
    rows = data.draw(st.lists(transfers(), min_size=4, max_size=4))
    assert add_up(rows) == add_up(rows[index] for index in credits)


def test_a_deposit_is_in_flight_until_it_is_answered() -> None:
    deposit = Credit(
        kind=TransferKind.DEPOSIT,
        amount=7,
        is_settlement_token=False,
        is_final=True,
        tx_hash="0xd",
        source_tx_hash=None,
        mined_at=SOON,
    )
    fill = replace(deposit, kind=TransferKind.PAYMENT, is_settlement_token=True, tx_hash="0xf", source_tx_hash="0xd")
    refund = replace(fill, kind=TransferKind.BRIDGE_REFUND, is_settlement_token=False)
    assert add_up([deposit]).in_flight
    assert not add_up([deposit, fill]).in_flight
    assert not add_up([deposit, refund]).in_flight
    assert add_up([deposit, replace(refund, is_final=False)]).in_flight
    assert add_up([deposit, replace(fill, source_tx_hash="0xother")]).in_flight


def test_an_overdue_deposit_is_as_good_as_given_back_unless_it_was_delivered() -> None:
    deposit = Credit(
        kind=TransferKind.DEPOSIT,
        amount=7,
        is_settlement_token=False,
        is_final=True,
        tx_hash="0xd",
        source_tx_hash=None,
        mined_at=SOON,
        is_overdue=True,
    )
    fill = replace(deposit, kind=TransferKind.PAYMENT, is_settlement_token=True, tx_hash="0xf", source_tx_hash="0xd")
    assert add_up([deposit]).returned
    assert not add_up([deposit]).in_flight
    assert not add_up([replace(deposit, is_final=False)]).returned
    assert not add_up([deposit, fill]).returned


def test_what_is_rejected_does_not_count() -> None:
    payment = Credit(
        kind=TransferKind.PAYMENT,
        amount=7,
        is_settlement_token=True,
        is_final=True,
        tx_hash="0xp",
        source_tx_hash=None,
        mined_at=SOON,
        is_rejected=True,
    )
    funds = add_up([payment])
    assert (funds.seen, funds.final, funds.rejected, funds.rejected_final) == (0, 0, True, True)


def _counts(row: Credit) -> bool:
    return row.kind == TransferKind.PAYMENT and row.is_settlement_token
