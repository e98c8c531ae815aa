"""What a visit costs: requests and bytes as they crossed the network, and how long a slow one keeps people waiting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from playwright.sync_api import CDPSession, Page

RTT_MS = 150
PATIENCE_S, LOOK_MS = 30, 20
BYTES_PER_S = 1_600_000 // 8
INTERACTIVE = "() => performance.getEntriesByName('interactive').length"
"""The page's own mark: whoever sees it can choose, and pay."""
PAINTS = """() => ({
  first_paint_ms: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  interactive_ms: performance.getEntriesByName('interactive')[0]?.startTime,
})"""


@dataclass
class Crossing:
    """One request, and the bytes of its answer with its headers; nothing for what the browser had."""

    url: str
    n_bytes: int = 0
    is_over: bool = False

    @property
    def name(self) -> str:
        """What was asked for, without the order and without hashes."""
        parts = self.url.split("?")[0].split("/")
        return "/".join(part for part in parts[3:] if not part.startswith("po_"))


@dataclass
class Visit:
    """What one visit of a page asked for."""

    asked: dict[str, Crossing] = field(default_factory=dict)

    @property
    def crossings(self) -> list[Crossing]:
        """Those that crossed the network, the largest first."""
        return sorted((each for each in self.asked.values() if each.n_bytes), key=lambda each: -each.n_bytes)

    @property
    def n_bytes(self) -> int:
        return sum(each.n_bytes for each in self.asked.values())

    def __str__(self) -> str:
        rows = "".join(f"\n  {each.n_bytes:6,} {each.name}" for each in self.crossings)
        return f"{self.n_bytes:,} bytes in {len(self.crossings)} requests{rows}"


@contextmanager
def watch_network(page: Page, *, is_slow: bool = False) -> Iterator[Visit]:
    """Count what crosses the network until the block ends; a slow network is a phone's far from its mast."""
    session = page.context.new_cdp_session(page)
    visit = Visit()
    session.on("Network.requestWillBeSent", lambda event: _note(visit, event))
    session.on("Network.responseReceived", lambda event: _add(visit, event, event["response"]))
    session.on("Network.loadingFinished", lambda event: _add(visit, event, event | {"isOver": True}))
    session.send("Network.enable")
    if is_slow:
        _slow_down(session)
    try:
        yield visit
    finally:
        session.detach()


def visit_page(page: Page, url: str, *, is_slow: bool = False) -> tuple[Visit, dict[str, float]]:
    """Visit an order's page, and say what it cost and when it was painted and ready."""
    with watch_network(page, is_slow=is_slow) as visit:
        page.goto(url)
        return visit, _wait_until_ready(page, visit)


def reload_page(page: Page) -> tuple[Visit, dict[str, float]]:
    """Load the same page again."""
    with watch_network(page) as visit:
        page.reload()
        return visit, _wait_until_ready(page, visit)


def _wait_until_ready(page: Page, visit: Visit) -> dict[str, float]:
    """Wait for the page's own mark, and for what it asked for before; a stream of events goes on."""
    page.wait_for_function(INTERACTIVE)
    deadline = monotonic() + PATIENCE_S
    while not all(each.is_over for each in visit.asked.values()):
        if monotonic() > deadline:
            raise TimeoutError(f"still loading: {visit}")
        page.wait_for_timeout(LOOK_MS)
    return page.evaluate(PAINTS)


def _slow_down(session: CDPSession) -> None:
    network = {"offline": False, "latency": RTT_MS, "downloadThroughput": BYTES_PER_S, "uploadThroughput": BYTES_PER_S}
    session.send("Network.emulateNetworkConditions", network)


def _note(visit: Visit, event: dict[str, Any]) -> None:
    visit.asked[event["requestId"]] = Crossing(event["request"]["url"])


def _add(visit: Visit, event: dict[str, Any], counted: dict[str, Any]) -> None:
    """Count the headers of what flows on, and all of what has ended; a copy that the browser had costs nothing."""
    crossing = visit.asked.get(event["requestId"])
    if crossing is None:
        return
    crossing.is_over |= counted.get("isOver", False) or counted.get("mimeType") == "text/event-stream"
    if not counted.get("fromDiskCache"):
        crossing.n_bytes = int(counted["encodedDataLength"])
