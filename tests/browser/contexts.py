"""Browser contexts that one tab after another may have.

A context of its own costs a tab a new process, which compiles the page's scripts and axe-core anew: a third of all that
a short test takes. What a page leaves in its context goes with it. A test that changes its context has it for itself.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

PrepareContext = Callable[[BrowserContext], None]


class Contexts:
    """Contexts of one browser, each with the settings that it was made with."""

    def __init__(self, browser: Browser, prepare: PrepareContext) -> None:
        self._browser = browser
        self._prepare = prepare
        self._idle: dict[str, list[BrowserContext]] = defaultdict(list)

    def lend(self, settings: Mapping[str, Any]) -> BrowserContext:
        """Return a context that nobody has, with nothing in it."""
        idle = self._idle[_write_key(settings)]
        if idle:
            return idle.pop()
        context = self._browser.new_context(**settings)
        self._prepare(context)
        return context

    def take_back(self, context: BrowserContext, settings: Mapping[str, Any], origin: str) -> None:
        """Empty a context, and keep it for another tab.

        A blank page stays, for with its last page a context's process ends.
        """
        used = context.pages
        _clear(context.new_page(), origin)
        for page in used:
            page.close()
        context.clear_cookies()
        self._idle[_write_key(settings)].append(context)

    def close(self) -> None:
        """Close those that nobody has."""
        for contexts in self._idle.values():
            for context in contexts:
                context.close()
        self._idle.clear()


def _clear(page: Page, origin: str) -> None:
    """Remove what scripts of an origin have kept."""
    session = page.context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage"})
    session.detach()


def _write_key(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)
