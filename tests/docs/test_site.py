"""The site is built without a warning, leads nowhere that is not there, and asks the network for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.support.chromium import ARGUMENTS, executable
from tests.support.site import ROOT, build_site

pytestmark = pytest.mark.xdist_group("site")
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("use", "href")}
"""What a browser loads by itself; links of other kinds are followed by people."""


class Reader(HTMLParser):
    """Collects what a page has, what it loads and where it leads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"id", "name"} and value:
                self.anchors.add(value)
            elif (tag, name) in LOADED:
                self.loaded.append(value or "")
            elif (tag, name) == ("a", "href"):
                self.links.append(value or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a warning."""
    folder = tmp_path_factory.mktemp("site")
    build_site(folder)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Reader]:
    """Every page, read."""
    return {path: Reader(path) for path in sorted(site.rglob("*.html"))}


def find_missing(readers: dict[Path, Reader], reader: Reader, target: str) -> str | None:
    """Return a link that leads nowhere; None if it leads somewhere in the site."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    path = (reader.path.parent / unquote(parts.path)).resolve() if parts.path else reader.path
    path = path / "index.html" if path.is_dir() else path
    if not path.exists():
        return target
    is_anchor = parts.fragment and path in readers
    return target if is_anchor and unquote(parts.fragment) not in readers[path].anchors else None


def test_every_document_is_a_page(site: Path, pages: dict[Path, Reader]) -> None:
    for document in sorted((ROOT / "docs").rglob("*.md")):
        place = document.relative_to(ROOT / "docs").with_suffix(".html")
        assert site / (place.parent / "index.html" if place.stem == "README" else place) in pages, document
    for name in ("readme", "changelog", "contributing", "notice", "clients/index", "clients/python"):
        assert site / f"{name}.html" in pages


def test_links_lead_somewhere(pages: dict[Path, Reader]) -> None:
    read = [reader for path, reader in pages.items() if path.name != "404.html"]  # it has the server's own paths
    assert sum(len(reader.links) for reader in read) > 2_000
    missing = [
        (reader.path.name, target)
        for reader in read
        for target in (*reader.links, *reader.loaded)
        if find_missing(pages, reader, target)
    ]
    assert missing == []


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Reader]) -> None:
    for reader in pages.values():
        elsewhere = [target for target in reader.loaded if urlsplit(target).netloc]
        assert elsewhere == [], reader.path
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", text), path
    # The theme fetches a script from elsewhere where a page has a diagram in Mermaid.
    assert not [reader.path for reader in pages.values() if "mermaid" in reader.path.read_text(encoding="utf-8")]


def test_the_guide_has_no_mark_that_was_not_read(site: Path) -> None:
    for path in sorted(site.rglob("*.html")):
        text = re.sub(r"<(pre|code)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"--8&lt;--|\?\?\? |!!! |=== &quot;|=== \"|\[ \] |```", text), path
        assert not re.search(r"\\\(|\\\[|\$\$", text), path


@pytest.fixture
def browser_page(site: Path) -> Iterator[Page]:
    """A browser at the site's first page, which was opened as a file; whatever else it asks for fails the test."""
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(executable()), args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: asked.append(str(error)))
        page.goto((site / "index.html").as_uri())
        yield page
        browser.close()
    assert [each for each in asked if not each.startswith(site.as_uri())] == []
    assert any("search_index" in each for each in asked)


def test_search_works_from_a_folder(site: Path, browser_page: Page) -> None:
    browser_page.set_viewport_size({"width": 1280, "height": 800})
    browser_page.click("[data-md-component=search-query]")
    browser_page.keyboard.type("underpaid")
    # The list is searched at each letter: what is read is the answer to the whole word, not to its beginning.
    first = browser_page.locator(".md-search-result__item a").first
    expect(first).to_have_attribute("href", re.compile(r"states\.html\?h=underpaid"))
    # No page is wider than a phone; what is wide is scrolled inside it.
    browser_page.set_viewport_size({"width": 390, "height": 844})
    for name in ("guide/quickstart", "guide/states", "guide/api", "guide/webhooks", "algorithms", "readme"):
        browser_page.goto((site / f"{name}.html").as_uri())
        assert browser_page.evaluate("document.documentElement.scrollWidth") <= 390, name
