"""What has come for an order, added up: once each, final or not, in flight, late or sent back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.domain.funds import Credit, add_up
from api.domain.transfers import TransferKind
from tests.support.order_states import EXPIRY, LATE, SOON, is_counted, transfers


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
    assert funds.seen == sum(row.amount - row.asked_back for row in credits if is_counted(row))
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
