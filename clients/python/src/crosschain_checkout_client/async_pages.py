"""Pages one after the other, awaited; `pages.py` is made from this file by `make clients`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Protocol, TypeVar

from crosschain_checkout_client.calls import Call

T = TypeVar("T")
P = TypeVar("P", bound="Page")


class Page(Protocol):
    """What every page has."""

    @property
    def next_cursor(self) -> str | None:
        """Where the next page begins."""


class AsyncSend(Protocol):
    """Sends a call and gives its answer."""

    def __call__(self, call: Call[T], /) -> Awaitable[T]:
        """Send it."""


class AsyncStream(Protocol):
    """Sends a call and gives its answer as text, piece by piece."""

    def __call__(self, call: Call[str], /) -> AsyncGenerator[str, None]:
        """Send it."""


async def list_pages(ask: Callable[[str | None], Awaitable[P]], cursor: str | None) -> AsyncIterator[P]:
    """Yield every page from `cursor` on; each is asked for when it is needed."""
    while True:
        page = await ask(cursor)
        yield page
        # A cursor that leads nowhere new would go round for ever.
        if page.next_cursor is None or page.next_cursor == cursor or not getattr(page, "has_more", True):
            return
        cursor = page.next_cursor


async def split_lines(pieces: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    """Yield whole lines with their ends; only a line feed ends one, as other signs may stand in a cell."""
    begun = ""
    async with aclosing(pieces):
        async for piece in pieces:
            *lines, begun = (begun + piece).split("\n")
            for line in lines:
                yield f"{line}\n"
    if begun:
        yield begun
