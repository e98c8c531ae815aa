"""What a customer of a test order may try out on the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from api.checkout_page.language.strings import Strings
from api.domain.orders import OrderStatus
from api.domain.simulation import FITS, Action
from api.services.orders.views import PublicOrder

_NEEDS_DUE = frozenset({Action.PAY, Action.UNDERPAY, Action.OVERPAY, Action.WRONG_TOKEN})
_FIRST_ACTIONS = (
    Action.UNDERPAY,
    Action.OVERPAY,
    Action.PAY_LATE,
    Action.WRONG_TOKEN,
    Action.REORG,
    Action.BRIDGE_DELAY,
    Action.BRIDGE_FAIL,
    Action.EXPIRE,
)
_ACTIONS: Mapping[OrderStatus, tuple[Action, ...]] = MappingProxyType(
    {
        OrderStatus.CREATED: _FIRST_ACTIONS,
        OrderStatus.PROCESSING: (Action.REORG, Action.EXPIRE),
        OrderStatus.EXPIRED: (Action.PAY_LATE,),
    }
)


def describe_actions(order: PublicOrder, status: OrderStatus, strings: Strings) -> Iterator[Mapping[str, str]]:
    """Describe what the page offers to try in a status; `status` may run ahead of the order's stored one."""
    possible = list_actions(order)
    for action in _ACTIONS.get(status, ()):
        if action in possible:
            yield {"action": action, **strings.simulate[action]}


def list_actions(order: PublicOrder) -> tuple[Action, ...]:
    """Return what can happen to an order in its present status; none for a live one or one that nobody can pay."""
    if not order.is_simulated or not order.payable:
        return ()
    fitting = (action for action in Action if order.status in FITS[action])
    return tuple(action for action in fitting if order.amount_due or action not in _NEEDS_DUE)
