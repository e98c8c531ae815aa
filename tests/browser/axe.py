"""axe-core, from npm: finds what people with assistive technology would stumble over."""

from __future__ import annotations

from functools import cache
from typing import Any

from playwright.sync_api import Page

from tests.support.npm import Package, fetch

AXE = Package(
    "axe-core",
    "4.14.1",
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
)
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@cache
def _source() -> str:
    return (fetch(AXE) / "axe.min.js").read_text()


def violations(page: Page) -> list[str]:
    """Return what is wrong on the page as it stands, by the rules of WCAG 2.2 A and AA."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_source())
    found: list[dict[str, Any]] = page.evaluate(
        "async (tags) => (await axe.run(document, {runOnly: tags, resultTypes: ['violations']})).violations", TAGS
    )
    return [f"{item['id']}: {item['help']}: {[node['html'] for node in item['nodes']]}" for item in found]
