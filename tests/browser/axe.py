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
RUN = """async ([tags, ofEachRow]) => {
  const kept = /^(class|dir|disabled|hidden|lang|role|tabindex|type)$|^aria-(?!label$)/;
  const write = ({ name, value }) => (kept.test(name) ? `${name}=${value}` : `${name}${value ? "=" : ""}`);
  const shape = (each) => each.nodeType === Node.ELEMENT_NODE
    ? [each.tagName, each === document.activeElement, ...[...each.attributes].map(write).sort(),
       ...[...each.childNodes].map(shape), "/"].join()
    : each.data.trim() && "text";
  const rows = ofEachRow ? [] : [...document.querySelectorAll("#tokens > li")];
  const met = new Set();
  const spared = rows.filter((row) => met.size === met.add(shape(row)).size).map((row) => {
    const place = document.createComment("");
    row.replaceWith(place);
    return [place, row];
  });
  try {
    return (await axe.run(document, { runOnly: tags, resultTypes: ["violations"] })).violations;
  } finally {
    for (const [place, row] of spared) place.replaceWith(row);
  }
}"""
"""Takes rows of the list of tokens out that have the markup of one before them, as axe looks at all that is there."""


@cache
def _source() -> str:
    return (fetch(AXE) / "axe.min.js").read_text()


def violations(page: Page, *, of_each_row: bool = False) -> list[str]:
    """Return what is wrong on the page as it stands, by the rules of WCAG 2.2 A and AA.

    Of the two hundred tokens, those with equal markup count as one, unless it is asked for `of_each_row`.
    """
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_source())
    found: list[dict[str, Any]] = page.evaluate(RUN, [TAGS, of_each_row])
    return [f"{item['id']}: {item['help']}: {[node['html'] for node in item['nodes']]}" for item in found]
