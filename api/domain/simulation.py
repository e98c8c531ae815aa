"""What can be made to happen to a test order on simulated chains, and when."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from api.domain.orders import OrderStatus


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
PAID_IN_A_TOKEN = (Action.PAY, Action.UNDERPAY, Action.OVERPAY, Action.BRIDGE_DELAY, Action.BRIDGE_FAIL)
"""What a payer does with a token of their choice."""
AFTER_CLOSE = frozenset({OrderStatus.SUCCESS, OrderStatus.FAILED, OrderStatus.CANCELLED, OrderStatus.REFUNDED})
"""In which a vendor's `pay` rehearses money that comes for a closed order; customers' pages offer no such thing."""
