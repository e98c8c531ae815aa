"""What becomes of an order when a payment that was assigned to it by hand is taken away again."""

from __future__ import annotations

from api.domain.errors import Conflict
from api.domain.funds import Funds
from api.domain.orders import OrderState, OrderStatus, OrderStep, StatusReason, find_reason

_OF_MUCH = frozenset({StatusReason.NONE, StatusReason.OVERPAID, StatusReason.PAID_LATE})
"""Reasons of a success that follow from how much came, and when."""


def take_away(order: OrderState, funds: Funds, reason_before: StatusReason) -> OrderStep:
    """Return where an order belongs once a payment that was assigned by hand is taken away from it again.

    Parameters
    ----------
    funds : Funds
        What is left.
    reason_before : StatusReason
        The order's reason before money came for it when it was closed.

    Raises
    ------
    Conflict
        If the order has succeeded, and what stays whatever happens does not pay it: its goods may be on their way.
    """
    reason = order.reason
    if order.status == OrderStatus.SUCCESS:
        if order.amount is not None and funds.seen_firm < order.amount:
            raise Conflict("The order has succeeded with this payment, and its vendor was told so; refund it instead")
        reason = find_reason(order, funds) if reason in _OF_MUCH else reason
    elif order.status == OrderStatus.PROCESSING and funds.first_at is None:
        return OrderStep(status=OrderStatus.CREATED, reason=StatusReason.NONE)
    if reason == StatusReason.PAID_AFTER_CLOSE and not funds.after_close:
        reason = reason_before
    return OrderStep(status=order.status, reason=reason)
