"""The order's life: named cases, and properties over every history that can happen."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.domain.errors import Conflict
from api.domain.events import EVENT_OF, EventType, choose_event
from api.domain.funds import Credit, Funds, add_up
from api.domain.orders import (
    LATE_WINDOW,
    OPEN,
    TRANSITIONS,
    OrderState,
    OrderStatus,
    OrderStep,
    StatusReason,
    advance,
    cancel,
    takes_payment,
)
from api.domain.transfers import TransferKind

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
EXPIRY = START + timedelta(hours=24)
SOON = START + timedelta(minutes=5)
LATE = EXPIRY + timedelta(hours=1)
CLOSED = frozenset(OrderStatus) - OPEN
NO_FUNDS = Funds()


REASON_CHANGES = CLOSED | {OrderStatus.PROCESSING, OrderStatus.EXPIRED}
"""Statuses whose reason may change while they stay: for closed ones when money comes or goes back."""


def order(status: str = "created", reason: str = "", amount: int | None = 100) -> OrderState:
    return OrderState(status=OrderStatus(status), reason=StatusReason(reason), amount=amount, expires_at=EXPIRY)


def paid(seen: int, *, final: bool = True, at: datetime = SOON) -> Funds:
    counted = seen if final else 0
    return Funds(received=seen, final=counted, seen=seen, seen_final=counted, first_at=at)


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


moments = st.integers(0, 80).map(lambda hours: START + timedelta(hours=hours))


@st.composite
def transfers(draw: st.DrawFn) -> Credit:
    amount = draw(st.integers(1, 150))
    sent_back = draw(st.sampled_from([0, 0, amount // 2, amount]))
    return Credit(
        kind=draw(st.sampled_from(TransferKind)),
        amount=amount,
        is_settlement_token=draw(st.booleans()),
        is_final=draw(st.booleans()),
        bridge_key=draw(st.sampled_from(["d1", "d2", "p"])),
        is_built=draw(st.booleans()),
        is_overdue=draw(st.booleans()),
        is_rejected=draw(st.sampled_from([False, False, True])),
        is_after_close=draw(st.booleans()),
        is_notable=draw(st.booleans()),
        asked_back=draw(st.integers(sent_back, amount)),
        sent_back=sent_back,
        mined_at=draw(moments),
    )


histories = st.lists(st.tuples(st.lists(transfers(), max_size=4), moments), max_size=8)


@pytest.mark.rule("states.6", "states.16")
@given(histories=histories, amount=st.integers(1, 200))
def test_whatever_happens_only_allowed_changes_are_made(
    histories: list[tuple[list[Credit], datetime]], amount: int
) -> None:
    """Blocks come and go, time jumps: the state machine never leaves its map, and closed orders open no more."""
    state = order(amount=amount)
    for credits, now in histories:
        funds = add_up(credits, amount)
        for step in advance(state, funds, now):
            allowed = step.status in TRANSITIONS[state.status] or step.status == state.status in REASON_CHANGES
            assert allowed, (state, step)
            assert step != OrderStep(status=state.status, reason=state.reason)
            if step.status == OrderStatus.SUCCESS and state.status == OrderStatus.PROCESSING:
                assert sum(row.amount - row.asked_back for row in credits if _counts(row) and row.is_final) >= amount
            if step.status == OrderStatus.FAILED != state.status:
                assert sum(row.amount - row.asked_back for row in credits if _counts(row)) < amount
            state = replace(state, status=step.status, reason=step.reason)
        assert (state.status == OrderStatus.SUCCESS and funds.final < amount) == (
            (state.status, state.reason) == (OrderStatus.SUCCESS, StatusReason.REORGED)
        )
        assert advance(state, funds, now) == ()


@given(known=st.integers(0, 80), passed=st.integers(0, 80), seen=st.integers(1, 99))
def test_nothing_fails_for_want_of_money_before_the_chains_are_known_up_to_its_end(
    known: int, passed: int, seen: int
) -> None:
    funds, known_until = paid(seen), START + timedelta(hours=known)
    now = known_until + timedelta(hours=passed)
    changes = advance(order("processing", "underpaid"), funds, now, known_until=known_until)
    assert [step.status for step in changes] == (["failed"] if known_until >= EXPIRY else [])


def test_the_price_has_come_together_with_its_last_part_and_a_delivery_since_its_deposit() -> None:
    part = Credit(
        kind=TransferKind.PAYMENT, amount=50, is_settlement_token=True, is_final=True, mined_at=SOON, bridge_key="a"
    )
    deposit = replace(part, kind=TransferKind.DEPOSIT, bridge_key="b", mined_at=EXPIRY, is_settlement_token=False)
    delivery = replace(part, bridge_key="b", mined_at=LATE)
    assert add_up([part], 100).paid_at is None
    assert add_up([part, replace(part, mined_at=LATE, bridge_key="c")], 100).paid_at == LATE
    assert add_up([part, deposit, delivery], 100).paid_at == EXPIRY
    assert add_up([part, delivery], 100).paid_at == LATE
    assert add_up([part, replace(part, mined_at=LATE, bridge_key="c", asked_back=1)], 100).paid_at is None


@given(credits=st.lists(transfers(), max_size=6), amount=st.integers(1, 200))
def test_money_is_counted_once_and_only_if_it_reached_the_merchant(credits: list[Credit], amount: int) -> None:
    funds = add_up(credits, amount)
    assert funds.seen == sum(row.amount - row.asked_back for row in credits if _counts(row))
    assert 0 <= funds.seen_final <= funds.seen <= funds.received
    assert funds.seen_final <= funds.final <= funds.received
    if all(row.kind == TransferKind.REFUND for row in credits):
        assert funds.first_at is None
    if funds.all_sent_back:
        payments = [row for row in credits if row.kind == TransferKind.PAYMENT]
        more_than_dust = [
            row for row in payments if (100 * row.amount >= amount if row.is_settlement_token else row.is_notable)
        ]
        assert all(row.sent_back == row.amount for row in more_than_dust or payments)


@given(credits=st.permutations([*range(4)]), data=st.data())
def test_the_order_of_arrival_does_not_matter(credits: list[int], data: st.DataObject) -> None:
    rows = data.draw(st.lists(transfers(), min_size=4, max_size=4))
    assert add_up(rows, 100) == add_up([rows[index] for index in credits], 100)


PAYMENT = Credit(
    kind=TransferKind.PAYMENT, amount=7, is_settlement_token=True, is_final=True, bridge_key="d", mined_at=SOON
)
DEPOSIT = replace(PAYMENT, kind=TransferKind.DEPOSIT, is_settlement_token=False, is_built=True)


def test_a_deposit_is_in_flight_until_it_is_answered() -> None:
    refund = replace(PAYMENT, kind=TransferKind.BRIDGE_REFUND, is_settlement_token=False)
    assert add_up([DEPOSIT], 7).in_flight
    assert not add_up([DEPOSIT, PAYMENT], 7).in_flight
    assert not add_up([DEPOSIT, refund], 7).in_flight
    assert add_up([DEPOSIT, replace(refund, is_final=False)], 7).in_flight
    assert add_up([DEPOSIT, replace(PAYMENT, bridge_key="other")], 7).in_flight
    assert add_up([DEPOSIT, DEPOSIT, PAYMENT], 7).in_flight  # two burns that are alike, one delivered


def test_one_answer_to_two_deposits_of_one_second_leaves_the_built_one_on_its_way() -> None:
    foreign = replace(DEPOSIT, is_built=False)
    assert add_up([foreign, DEPOSIT, PAYMENT], 7).in_flight
    assert add_up([DEPOSIT, foreign, PAYMENT], 7).in_flight


@pytest.mark.rule("states.22")
def test_a_deposit_that_was_not_built_for_the_order_is_not_on_its_way() -> None:
    funds = add_up([replace(DEPOSIT, is_built=False)], 7)
    assert (funds.in_flight, funds.returned, funds.first_at) == (False, False, None)


def test_a_deposit_that_was_delivered_to_somebody_else_is_not_on_its_way() -> None:
    funds = add_up([DEPOSIT, replace(PAYMENT, kind=TransferKind.REDIRECTED, amount=0)], 7)
    assert (funds.in_flight, funds.redirected, funds.first_at) == (False, True, None)


def test_an_overdue_deposit_is_as_good_as_given_back_unless_it_was_delivered() -> None:
    deposit = replace(DEPOSIT, is_overdue=True)
    assert add_up([deposit], 7).returned
    assert not add_up([deposit], 7).in_flight
    assert not add_up([replace(deposit, is_final=False)], 7).returned
    assert not add_up([deposit, PAYMENT], 7).returned


@pytest.mark.rule("states.25")
def test_what_is_rejected_does_not_count() -> None:
    funds = add_up([replace(PAYMENT, is_rejected=True)], 7)
    assert (funds.seen, funds.received, funds.final, funds.rejected) == (0, 0, 0, True)


def test_less_than_a_hundredth_of_the_price_is_no_news() -> None:
    dust = replace(PAYMENT, amount=1)
    assert add_up([dust] * 99, 10_000).first_at is None
    assert add_up([dust] * 99, 10_000).seen == 99
    assert add_up([dust] * 100, 10_000).first_at == SOON
    assert not add_up([replace(dust, is_after_close=True)] * 99, 10_000).after_close


def test_late_money_after_early_dust_is_late() -> None:
    rows = [replace(PAYMENT, amount=1), replace(PAYMENT, amount=10_000, mined_at=LATE)]
    assert add_up(rows, 10_000).first_at == LATE


def test_all_is_sent_back_only_once_nothing_is_left_of_anything() -> None:
    back = replace(PAYMENT, asked_back=7, sent_back=7)
    foreign = replace(PAYMENT, is_settlement_token=False)
    assert add_up([back], 7).all_sent_back
    assert not add_up([back, foreign], 7).all_sent_back
    assert not add_up([], 7).all_sent_back


def _counts(row: Credit) -> bool:
    is_early = row.kind == TransferKind.PAYMENT and not row.is_after_close
    return is_early and row.is_settlement_token and not row.is_rejected


@pytest.mark.rule("states.1", "states.2")
def test_the_words_are_those_of_the_interface() -> None:
    assert {str(status) for status in OrderStatus} == {
        "created", "processing", "success", "failed", "expired", "cancelled", "refunded",
    }  # fmt: skip
    assert {str(reason) for reason in StatusReason} == {
        "", "underpaid", "overpaid", "paid_late", "wrong_token", "slippage_exceeded", "route_failed", "reorged",
        "screening_rejected", "expired", "paid_after_close", "cancelled_by_vendor", "partially_refunded",
    }  # fmt: skip
