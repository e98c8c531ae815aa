"""What a browser's tab says of an order."""

from __future__ import annotations

from enum import StrEnum

from api.domain.orders import OrderStatus


class TabIcon(StrEnum):
    """The icons, each a file of this name."""

    WAITING = "waiting"
    PROGRESS = "progress"
    PAID = "paid"
    PROBLEM = "problem"


def choose_icon(status: OrderStatus, *, is_wrong: bool) -> TabIcon:
    """Return the icon of an order's state."""
    if is_wrong:
        return TabIcon.PROBLEM
    if status == OrderStatus.SUCCESS:
        return TabIcon.PAID
    return TabIcon.PROGRESS if status == OrderStatus.PROCESSING else TabIcon.WAITING
