"""The order's life in named cases, and its words."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from api.domain.errors import Conflict
from api.domain.events import EVENT_OF, EventType, choose_event
from api.domain.funds import Funds
from api.domain.orders import (
    LATE_WINDOW,
    TRANSITIONS,
    OrderState,
    OrderStatus,
    StatusReason,
    advance,
    cancel,
    takes_payment,
)
from tests.support.order_states import CLOSED, EXPIRY, LATE, SOON, order, paid

NO_FUNDS = Funds()


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
    "short, then paid late": (
        order("processing", "underpaid"),
        replace(paid(109), paid_at=LATE),
        LATE,
        ["success/paid_late"],
    ),
    "begun in time, paid late": (order("processing"), replace(paid(100), paid_at=LATE), LATE, ["success/paid_late"]),
    "paid too late": (order("expired", "expired"), paid(100, at=EXPIRY + timedelta(hours=25)), LATE, []),
    "reorged": (order("processing"), NO_FUNDS, SOON, ["created/reorged"]),
    "reorged after expiry": (order("processing"), NO_FUNDS, LATE, ["created/reorged", "expired/expired"]),
    "paid again after a reorg": (order("created", "reorged"), paid(100), SOON, ["processing/", "success/"]),
    "deposited": (order(), Funds(first_at=SOON, in_flight=True), SOON, ["processing/"]),
    "deposited, past expiry": (order("processing"), Funds(first_at=SOON, in_flight=True), LATE, []),
    "bridge gave back": (order("processing"), Funds(first_at=SOON, returned=True), SOON, ["failed/route_failed"]),
    "wrong token": (order(), Funds(first_at=SOON, foreign=True), SOON, ["processing/wrong_token"]),
    "wrong token, still payable": (
        order("processing", "wrong_token"),
        Funds(first_at=SOON, foreign=True),
        EXPIRY - timedelta(seconds=1),
        [],
    ),
    "wrong token at expiry": (
        order("processing", "wrong_token"),
        Funds(first_at=SOON, foreign=True),
        EXPIRY,
        ["failed/wrong_token"],
    ),
    "wrong token, then the right one": (
        order("processing", "wrong_token"),
        replace(paid(100), foreign=True),
        SOON,
        ["success/"],
    ),
    "dust": (order(), Funds(received=0, seen=0), SOON, []),
    "dust and a deposit that came back": (
        order("processing"),
        replace(paid(0), returned=True),
        SOON,
        ["failed/route_failed"],
    ),
    "redirected": (order("processing"), Funds(redirected=True), SOON, ["created/route_failed"]),
    "success, lost": (order("success"), NO_FUNDS, SOON, ["success/reorged"]),
    "success, in part lost": (order("success", "overpaid"), paid(99), SOON, ["success/reorged"]),
    "success, still lost": (order("success", "reorged"), paid(100, final=False), SOON, []),
    "success, lost and found": (order("success", "reorged"), paid(100), SOON, ["success/"]),
    "refund under way": (order("success"), replace(paid(100), seen=0, seen_final=0), SOON, []),
    "refunded in part": (
        order("success"),
        replace(paid(100), part_sent_back=True),
        SOON,
        ["success/partially_refunded"],
    ),
    "refunded": (order("success"), replace(paid(100), part_sent_back=True, all_sent_back=True), SOON, ["refunded/"]),
    "short, sent back": (
        order("processing", "underpaid"),
        replace(paid(9), seen=0, seen_final=0, part_sent_back=True, all_sent_back=True),
        SOON,
        ["refunded/"],
    ),
    "wrong token, sent back while the right one is on its way": (
        order("processing"),
        Funds(first_at=SOON, foreign=True, in_flight=True, part_sent_back=True, all_sent_back=True),
        SOON,
        [],
    ),
    "wrong token, sent back later": (
        order("failed", "wrong_token"),
        Funds(first_at=SOON, foreign=True, part_sent_back=True, all_sent_back=True),
        LATE,
        ["refunded/"],
    ),
    "paid twice": (order("success"), replace(paid(100), after_close=True), SOON, ["success/paid_after_close"]),
    "paid after cancelling": (
        order("cancelled", "cancelled_by_vendor"),
        Funds(received=100, final=100, after_close=True),
        SOON,
        ["cancelled/paid_after_close"],
    ),
    "paid after refunding": (
        order("refunded"),
        Funds(received=200, final=200, after_close=True, part_sent_back=True),
        SOON,
        ["refunded/paid_after_close"],
    ),
    "and that sent back too": (
        order("refunded", "paid_after_close"),
        Funds(received=200, final=200, part_sent_back=True, all_sent_back=True),
        SOON,
        ["refunded/"],
    ),
    "rejected": (order(), Funds(first_at=SOON, rejected=True), SOON, ["processing/screening_rejected"]),
    "rejected, still payable": (
        order("processing", "screening_rejected"),
        Funds(first_at=SOON, rejected=True),
        SOON,
        [],
    ),
    "rejected at expiry": (
        order("processing", "screening_rejected"),
        Funds(first_at=SOON, rejected=True),
        EXPIRY,
        ["failed/screening_rejected"],
    ),
}


@pytest.mark.rule(
    "states.4",
    "states.5",
    "states.7",
    "states.9",
    "states.10",
    "states.15",
    "states.23",
    "states.24",
    "closed.3",
    "refunds.12",
)
@pytest.mark.parametrize("name", CASES)
def test_named_case(name: str) -> None:
    state, funds, now, expected = CASES[name]
    assert steps(state, funds, now) == expected


@pytest.mark.rule("states.16")
def test_every_transition_of_the_interface_and_no_other() -> None:
    assert {(str(a), str(b)) for a, targets in TRANSITIONS.items() for b in targets} == {
        ("created", "processing"),
        ("created", "expired"),
        ("created", "cancelled"),
        ("processing", "success"),
        ("processing", "failed"),
        ("processing", "created"),
        ("processing", "cancelled"),
        ("processing", "refunded"),
        ("expired", "processing"),
        ("expired", "refunded"),
        ("success", "refunded"),
        ("failed", "refunded"),
        ("cancelled", "refunded"),
    }


@pytest.mark.rule("states.12")
@pytest.mark.parametrize("status", OrderStatus)
def test_a_vendor_cancels_what_was_not_paid_in_full(status: OrderStatus) -> None:
    state = order(status)
    if OrderStatus.CANCELLED in TRANSITIONS[status]:
        assert cancel(state, paid(99)).reason == StatusReason.CANCELLED_BY_VENDOR
    else:
        is_done = status == OrderStatus.CANCELLED
        with pytest.raises(Conflict, match=f"is {status} {'already' if is_done else 'and can.t become cancelled'}"):
            cancel(state, NO_FUNDS)


def test_what_was_paid_in_full_is_not_cancelled() -> None:
    with pytest.raises(Conflict, match="refund it"):
        cancel(order("processing"), paid(100, final=False))


@pytest.mark.rule("states.11")
def test_what_still_takes_a_payment() -> None:
    last = EXPIRY + LATE_WINDOW
    assert takes_payment(order(), SOON)
    assert takes_payment(order("expired"), last)
    assert not takes_payment(order("expired"), last + timedelta(seconds=1))
    assert not takes_payment(order(amount=None), SOON)
    assert not any(takes_payment(order(status), SOON) for status in CLOSED)
    assert takes_payment(order("success", "reorged"), SOON)


def test_a_lost_payment_is_told_as_a_failure() -> None:
    assert choose_event(OrderStatus.SUCCESS, StatusReason.REORGED) == EventType.FAILED
    assert choose_event(OrderStatus.SUCCESS, StatusReason.OVERPAID) == EventType.SUCCESS


@pytest.mark.rule("events.14", "events.15", "events.16")
def test_each_status_but_refunded_has_its_event() -> None:
    assert set(OrderStatus) - set(EVENT_OF) == {OrderStatus.REFUNDED}
    assert {status for status, kind in EVENT_OF.items() if kind == EventType.FAILED} == {
        "failed",
        "expired",
        "cancelled",
    }


@pytest.mark.rule("states.1", "states.2")
def test_the_words_are_those_of_the_interface() -> None:
    assert {str(status) for status in OrderStatus} == {
        "created", "processing", "success", "failed", "expired", "cancelled", "refunded",
    }  # fmt: skip
    assert {str(reason) for reason in StatusReason} == {
        "", "underpaid", "overpaid", "paid_late", "wrong_token", "slippage_exceeded", "route_failed", "reorged",
        "screening_rejected", "expired", "paid_after_close", "cancelled_by_vendor", "partially_refunded",
    }  # fmt: skip
