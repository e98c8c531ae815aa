"""Pages one after the other, blocking; made from `async_pages.py` by `make clients`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from crosschain_checkout_client.calls import Call

T = TypeVar("T")
P = TypeVar("P", bound="Page")


class Page(Protocol):
    """What every page has."""

    @property
    def next_cursor(self) -> str | None:
        """Where the next page begins."""


class Send(Protocol):
    """Sends a call and gives its answer."""

    def __call__(self, call: Call[T], /) -> T:
        """Send it."""


def list_pages(ask: Callable[[str | None], P], cursor: str | None) -> Iterator[P]:
    """Yield every page from `cursor` on; each is asked for when it is needed."""
    while True:
        page = ask(cursor)
        yield page
        # A cursor that leads nowhere new would go round for ever.
        if page.next_cursor is None or page.next_cursor == cursor or not getattr(page, "has_more", True):
            return
        cursor = page.next_cursor
