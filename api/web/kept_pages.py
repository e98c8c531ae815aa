"""Pages as they were last written, for as long as they would be written the same.

What a page shows is read from the database each time. Only if all of it, and the language, equal what the kept page was
made from is that sent again. So nobody has to know when a page has changed, and none is ever old, or somebody else's.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from hashlib import sha256
from threading import Lock

from flask import Flask, Response, current_app

from api.assets.encodings import compress_quickly
from api.assets.files import HASH_DIGITS

EXTENSION = "kept_pages"
MOST_BYTES = 32_000_000
BESIDE = 40_000
"""Bytes that a page may take beside its text: what it was made from, and its text in both short forms."""


class KeptPage:
    """A page's text, its name by its content, and its short forms, each made when it is first asked for.

    Parameters
    ----------
    made_from : object
        Everything that the text depends on.
    """

    def __init__(self, made_from: object, body: bytes) -> None:
        self.made_from, self.body = made_from, body
        self.digest = sha256(body).hexdigest()[:HASH_DIGITS]
        self.size = len(body) + BESIDE
        self._short: dict[str, bytes] = {}

    def compress(self, encoding: str) -> bytes:
        """Return the short form in an encoding."""
        short = self._short.get(encoding)
        if short is None:
            short = self._short[encoding] = compress_quickly(self.body, encoding)
        return short


class KeptPages:
    """The pages that were asked for last.

    Parameters
    ----------
    most_bytes : int
        How much memory they may take together.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._lock = Lock()
        self._pages: OrderedDict[Hashable, KeptPage] = OrderedDict()

    def write(self, name: Hashable, made_from: object, write: Callable[[], str]) -> KeptPage:
        """Return the page of a name, written anew unless it was made from the same."""
        with self._lock:
            kept = self._pages.get(name)
            if kept is not None:
                self._pages.move_to_end(name)
        if kept is None or kept.made_from != made_from:
            kept = KeptPage(made_from, write().encode())
            self._keep(name, kept)
        return kept

    def _keep(self, name: Hashable, page: KeptPage) -> None:
        with self._lock:
            before = self._pages.pop(name, None)
            self._bytes += page.size - (before.size if before else 0)
            self._pages[name] = page
            while self._bytes > self._most_bytes:
                _, oldest = self._pages.popitem(last=False)
                self._bytes -= oldest.size


class KeptPageAnswer(Response):
    """An answer that is a kept page; who compresses or names it takes what is there."""

    def __init__(self, page: KeptPage) -> None:
        super().__init__(page.body, mimetype="text/html")
        self.page = page


def install(app: Flask) -> None:
    """Keep pages of `app`."""
    app.extensions[EXTENSION] = KeptPages()


def answer_with_page(name: Hashable, made_from: object, write: Callable[[], str]) -> KeptPageAnswer:
    """Answer with a page; see `KeptPages.write`."""
    pages: KeptPages = current_app.extensions[EXTENSION]
    return KeptPageAnswer(pages.write(name, made_from, write))
