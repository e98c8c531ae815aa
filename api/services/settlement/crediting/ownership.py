"""Give a payment to an order, or take it away from one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from api.domain.orders import takes_payment
from api.domain.payments import COUNTED, Evidence, PaymentState, Unmatched
from api.domain.transfers import TransferKind
from api.services.orders.store import get_state
from api.storage.tables import Payment, PaymentOrder


def give(row: Payment, order: PaymentOrder | None, evidence: Evidence, now: datetime) -> None:
    """Credit an order with a payment that was seen before it was known to be the order's.

    What is assigned by hand may have reached another address of the same merchant, and names what it named before: it
    may be taken away again.
    """
    if order is None:
        return
    if evidence != Evidence.ASSIGNED and row.kind == TransferKind.PAYMENT and row.recipient != order.settlement_address:
        return
    row.order_id, row.unmatched_reason, row.evidence, row.updated_at = order.id, "", evidence, now
    if evidence != Evidence.ASSIGNED:
        row.claimed_order_id = order.id
    count_anew(row)
    judge_moment(row, order)


def take_back(row: Payment, before: Mapping[str, Any], now: datetime) -> None:
    """Take a payment that was assigned by hand away again: it is as it was before, and its vendor hears of it again.

    What its calls name, also if that is known only since, is the one order that it may be claimed for.

    Parameters
    ----------
    before : mapping
        Its `unmatched_reason` of then; the plainest without it.
    """
    row.unmatched_reason = before.get("unmatched_reason") or Unmatched.NO_ORDER
    row.order_id, row.evidence, row.updated_at = None, Evidence.NONE, now
    row.is_after_close, row.is_announced = False, False


def judge_moment(row: Payment, order: PaymentOrder | None) -> None:
    """Say whether a payment comes when its order is closed: whenever it becomes canonical, also if it does so again.

    What comes then is told when it counts, also where it was told of before as nobody's.
    """
    is_after_close = comes_after_close(order, TransferKind(row.kind), row.mined_at)
    if is_after_close and not row.is_after_close:
        row.is_announced = False
    row.is_after_close = is_after_close


def comes_after_close(order: PaymentOrder | None, kind: TransferKind, mined_at: datetime) -> bool:
    """Whether what was mined at this moment would come for an order that is closed."""
    return order is not None and kind == TransferKind.PAYMENT and not takes_payment(get_state(order), mined_at)


def count_anew(row: Payment) -> None:
    """Let a payment that counted wait once more: for how much follows its order, and what speaks for it."""
    if row.state in COUNTED:
        row.state, row.confirmations = PaymentState.SEEN, 0


def release(row: Payment, now: datetime) -> None:
    """Take a payment away from its order; `claimed_order_id` still says which that was."""
    row.order_id, row.evidence, row.unmatched_reason, row.updated_at = None, Evidence.NONE, Unmatched.NO_ORDER, now
    row.source_chain_id, row.source_tx_hash = None, None
    if row.is_after_close:
        row.is_after_close, row.is_announced = False, False  # that it is nobody's is not told yet
