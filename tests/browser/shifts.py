"""How much a page moves while it loads, as Chromium counts it: `layout-shift` entries.

Those soon after a viewport has got its size count here too, which Chromium leaves out: nothing is tapped meanwhile.
"""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route, expect

MOST = 0.01
"""A sum of shares of the screen, no unit; a tenth of what counts as good (https://web.dev/articles/cls)."""
SLOW = re.compile(r"/(main-\w+\.\w+\.js|options|tokens|quote|status)(\?.*)?$")
"""What a slow network brings late."""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint').length"
PATIENCE = 600
"""Looks, two frames each, until what a test waits for was asked for."""
WATCH = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) {
    const moved = sources.map(({ node, previousRect: from, currentRect: to }) =>
      `${node?.id || node?.className || node?.nodeName} ${from.top}+${from.height} -> ${to.top}+${to.height}`);
    window.shifts.push({ value, moved });
  }
}).observe({ type: "layout-shift", buffered: true });
"""
FRAMES = """() => new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)));
})"""
"""Resolves when what has been laid out is painted, and its shifts are noted."""


class SlowVisit:
    """A visit whose markup is painted first; the script and each answer come when a test lets them."""

    def __init__(self, page: Page, url: str) -> None:
        self._page = page
        self._held: list[Route] = []
        page.add_init_script(WATCH)
        page.route(SLOW, lambda route: self._held.append(route))
        page.goto(url, wait_until="commit")
        page.wait_for_function(PAINTED)
        page.evaluate(FRAMES)

    def bring(self, name: str) -> None:
        """Let what has this in its address come, once it is asked for, and be painted."""
        found: list[Route] = []
        for _ in range(PATIENCE):
            found = [route for route in self._held if name in route.request.url]
            if found:
                break
            self._page.evaluate(FRAMES)
        assert found, f"{name} was not asked for"
        for route in found:
            self._held.remove(route)
            with self._page.expect_event("requestfinished", lambda done, route=route: done == route.request):
                route.continue_()
        self._page.evaluate(FRAMES)

    def bring_all(self) -> None:
        """Let all come that was asked for, and what will be."""
        self._page.unroute(SLOW)
        for route in self._held:
            route.continue_()
        self._held.clear()

    def expect_little_movement(self) -> None:
        """Expect the sum of all shifts until now to be small; what has moved how far is told in CSS pixels."""
        self._page.evaluate(FRAMES)
        shifts = self._page.evaluate("() => window.shifts")
        told = "\n".join(f"{each['value']:.4f} {'; '.join(each['moved'])}" for each in shifts)
        total = sum(each["value"] for each in shifts)
        print(f"\nshifted by {total:.3f}\n{told}")
        assert total <= MOST, told


def read_top(page: Page, selector: str) -> float:
    """Return how far below the top of the page something stands that can be seen, in CSS pixels."""
    there = page.locator(selector)
    expect(there).to_be_visible()
    return float(there.evaluate("(each) => each.getBoundingClientRect().top + scrollY"))
