"""How heavy and how slow a visit is, measured on a phone's bad network."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from playwright.sync_api import Browser

from tests.browser.gallery.stage import Stage
from tests.browser.meter import reload_page, visit_page

VISITS = 5
Measured = Mapping[str, str]


def measure_visits(browser: Browser, stage: Stage) -> Measured:
    """Return what a first visit and a reload cost, and when a slow first visit is painted and ready."""
    url = stage.simulated.url(stage.order())
    paints = []
    for _ in range(VISITS):
        context = browser.new_context()
        page = context.new_page()
        first, paint = visit_page(page, url, is_slow=True)
        again, _ = reload_page(page)
        paints.append(paint)
        context.close()
    return {
        "First visit": f"{first.n_bytes:,} bytes in {len(first.crossings)} requests",
        "Reload": f"{again.n_bytes:,} bytes in {len(again.crossings)} requests",
        "First paint at 150 ms and 1.6 Mbps": f"{median(each['first_paint_ms'] for each in paints):.0f} ms",
        "Ready to pay at 150 ms and 1.6 Mbps": f"{median(each['interactive_ms'] for each in paints):.0f} ms",
    }
