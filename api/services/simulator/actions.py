"""What can be made to happen to a test order, and when."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from api.domain.orders import OrderStatus
from api.services.orders.views import PublicOrder


class Action(StrEnum):
    """What can happen."""

    PAY = "pay"
    UNDERPAY = "underpay"
    OVERPAY = "overpay"
    PAY_LATE = "pay_late"
    WRONG_TOKEN = "wrong_token"  # noqa: S105 - a word of the interface
    REORG = "reorg"
    BRIDGE_DELAY = "bridge_delay"
    BRIDGE_FAIL = "bridge_fail"
    EXPIRE = "expire"


_WAITING = frozenset({OrderStatus.CREATED, OrderStatus.PROCESSING})
FITS: Mapping[Action, frozenset[OrderStatus]] = MappingProxyType(
    {
        Action.PAY: _WAITING,
        Action.UNDERPAY: _WAITING,
        Action.OVERPAY: _WAITING,
        Action.PAY_LATE: frozenset({OrderStatus.CREATED, OrderStatus.EXPIRED}),
        Action.WRONG_TOKEN: _WAITING,
        Action.REORG: _WAITING,
        Action.BRIDGE_DELAY: frozenset({OrderStatus.CREATED}),
        Action.BRIDGE_FAIL: frozenset({OrderStatus.CREATED}),
        Action.EXPIRE: _WAITING,
    }
)
"""In which statuses each action makes sense."""

_NEEDS_DUE = frozenset({Action.PAY, Action.UNDERPAY, Action.OVERPAY, Action.WRONG_TOKEN})


def allowed_actions(order: PublicOrder) -> tuple[Action, ...]:
    """Return what can happen to an order in its present status; none for a live one or one that nobody can pay."""
    if not order.is_simulated or not order.payable:
        return ()
    fitting = (action for action in Action if order.status in FITS[action])
    return tuple(action for action in fitting if order.amount_due or action not in _NEEDS_DUE)
