"""Pages one after the other, blocking; made from `async_pages.py` by `make clients`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
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


class Stream(Protocol):
    """Sends a call and gives its answer as text, piece by piece."""

    def __call__(self, call: Call[str], /) -> Generator[str, None, None]:
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


def split_lines(pieces: Generator[str, None, None]) -> Generator[str, None, None]:
    """Yield whole lines with their ends; only a line feed ends one, as other signs may stand in a cell."""
    begun = ""
    with closing(pieces):
        for piece in pieces:
            *lines, begun = (begun + piece).split("\n")
            for line in lines:
                yield f"{line}\n"
    if begun:
        yield begun
