"""The client that blocks, from the one that is awaited: the same text without `await`."""

from __future__ import annotations

import re
from collections.abc import Mapping

AWAITED = ("async_client", "async_orders", "async_pages", "async_resources", "async_subscriptions")
CHANGES: Mapping[str, str] = {
    r"httpx\.AsyncBaseTransport": "httpx.BaseTransport",
    r"httpx\.AsyncClient": "httpx.Client",
    r"import anyio\n": "import time\n",
    r"anyio\.sleep": "time.sleep",
    r"AsyncIterator": "Iterator",
    r"Awaitable\[(\w+)\]": r"\1",
    r", Awaitable\b": "",
    r"an asynchronous context manager": "a context manager",
    r"AsyncGenerator\[(\w+), None\]": r"Generator[\1, None, None]",
    r"\baclosing\b": "closing",
    r"\baiter_text\b": "iter_text",
    r"\baread\b": "read",
    r"`aclose`": "`close`",
    r"\baclose\b": "close",
    r"__aenter__": "__enter__",
    r"__aexit__": "__exit__",
    r"\basync (def|for|with)\b": r"\1",
    r"\bawait ": "",
    r"\basync_(client|orders|pages|resources|subscriptions)\b": r"\1",
    r"\bAsync([A-Z]\w+)": r"\1",
    r"The client that is awaited": "The client that blocks",
    r", awaited;": ", blocking;",
}


def write_sync(text: str, name: str) -> str:
    """Return the module that blocks, from the text of `name`, one of `AWAITED`."""
    for pattern, change in CHANGES.items():
        text = re.sub(pattern, change, text)
    made = name.removeprefix("async_")
    return text.replace(f"`{made}.py` is made from this file by", f"made from `{name}.py` by", 1)
