"""The order's life whatever happens: only allowed changes, over every history that can be."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.domain.funds import Credit, add_up
from api.domain.orders import (
    TRANSITIONS,
    OrderStatus,
    OrderStep,
    StatusReason,
    advance,
)
from tests.support.order_states import CLOSED, EXPIRY, START, is_counted, moments, order, paid, transfers

REASON_CHANGES = CLOSED | {OrderStatus.PROCESSING, OrderStatus.EXPIRED}
"""Statuses whose reason may change while they stay: for closed ones when money comes or goes back."""


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
                assert sum(row.amount - row.asked_back for row in credits if is_counted(row) and row.is_final) >= amount
            if step.status == OrderStatus.FAILED != state.status:
                assert sum(row.amount - row.asked_back for row in credits if is_counted(row)) < amount
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
