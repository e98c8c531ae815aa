"""What a browser's tab says of an order."""

from __future__ import annotations

from enum import StrEnum

from api.checkout_page.language.strings import Strings, strip_isolates
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


def name_tab(title: str | None, strings: Strings, merchant: str) -> str:
    """Return what the browser's tab says: the state's title, or without one whom to pay."""
    return strip_isolates(f"{title} · {merchant}" if title else strings.page["title"].format(merchant=merchant))
