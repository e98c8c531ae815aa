"""What MkDocs does not know of this tree: pages beside `docs`, links out of it, lists and formulas as on GitHub.

The documents are written to be read in the tree as well, so nothing in them is made for the site alone.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
DECISIONS = "adr/"
PAGES: Mapping[str, str] = {
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "NOTICE.md": "notice.md",
    "clients/README.md": "clients/index.md",
    "clients/python/README.md": "clients/python.md",
    "clients/typescript/README.md": "clients/typescript.md",
}
"""Documents beside `docs`, and where the site has them."""
PROGRAMS = (".py", ".php", ".go", ".mjs")
"""Files below `docs` that a page shows whole, so the site has none of its own for them."""
NOTEBOOKS = "notebooks/"
LESS_SOUGHT = ("adr/", "benchmarks-history.md", "changelog.md", "page/")
"""Whoever searches is seldom looking for these; they come last."""

_FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?P<bang>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ")
_INNER_ITEM = re.compile(r"^ {2,3}(?=(?:[-*]|\d+\.) )", re.MULTILINE)
_FORMULA = re.compile(r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL)


def on_config(config: Any) -> Any:
    """Put every decision into the navigation."""
    config.nav = _fill_nav(config.nav)
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages beside `docs`, and a list of the decisions."""
    for source, place in PAGES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, f"{DECISIONS}index.md", content="\n".join(_list_decisions())))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Read a document as GitHub does, and turn its links into the site's."""
    if page.file.src_uri.startswith(LESS_SOUGHT):
        page.meta.setdefault("search", {"boost": 0.5})
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    source = page.file.abs_src_path
    if source is None:
        return markdown
    place = Path(source).resolve().relative_to(ROOT).as_posix()
    parts = []
    for text, is_code in _split(markdown):
        parts.append(text if is_code else _turn_links(_open_lists(text), place, page.file.src_uri))
    return "".join(parts)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Write formulas as MathML, which browsers show without a script; mark what the cells of notebooks show."""
    if page.file.src_uri.startswith(NOTEBOOKS):
        html = html.replace('class="language-text highlight"', 'class="language-text highlight shown"')
    return _FORMULA.sub(lambda found: _write_formula(found["tex"], is_block=found["tag"] == "div"), html)


def find_place(path: str) -> str | None:
    """Return where the site has a file of the tree, or None where it has not."""
    if path in PAGES:
        return PAGES[path]
    if not path.startswith("docs/") or path.startswith("docs/site/"):
        return None
    if path.endswith(PROGRAMS):
        return None
    inside = path.removeprefix("docs/")
    if not (ROOT / path).is_dir():
        return inside
    if (ROOT / path / "README.md").exists():
        return f"{inside}/README.md"
    return f"{inside.rstrip('/')}/index.md"


def _fill_nav(entries: Any) -> Any:
    if isinstance(entries, list):
        return [_fill_nav(each) for each in entries]
    if isinstance(entries, dict):
        return {title: _fill_nav(each) for title, each in entries.items()}
    if entries == DECISIONS:
        return [f"{DECISIONS}index.md", *(f"{DECISIONS}{path.name}" for path in _find_decisions())]
    return entries


def _find_decisions() -> list[Path]:
    return sorted((ROOT / "docs" / DECISIONS).glob("[0-9]*.md"))


def _list_decisions() -> Iterator[str]:
    yield from ("# Decisions", "", "Why things are as they are, in the order in which it was decided.", "")
    yield from ("| | decision | status |", "|---|---|---|")
    for path in _find_decisions():
        text = path.read_text(encoding="utf-8")
        number, _, title = text.partition("\n")[0].removeprefix("# ").partition(". ")
        found = re.search(r"^Status: (.+)$", text, re.MULTILINE)
        yield f"| {number} | [{title}]({path.name}) | {found[1] if found else ''} |"


def _split(markdown: str) -> Iterator[tuple[str, bool]]:
    """Yield a document's prose and its blocks of code in turn; true for code."""
    end = 0
    for found in _FENCE.finditer(markdown):
        yield markdown[end : found.start()], False
        yield found[0], True
        end = found.end()
    yield markdown[end:], False


def _open_lists(text: str) -> str:
    """Let a list begin where a line of it follows a paragraph, and inner lists by two spaces."""
    lines = _INNER_ITEM.sub("    ", text).split("\n")
    opened: list[str] = []
    for line in lines:
        before = opened[-1] if opened else ""
        if _ITEM.match(line) and before.strip() and not _ITEM.match(before) and not before.startswith((" ", "#")):
            opened.append("")
        opened.append(line)
    return "\n".join(opened)


def _turn_links(text: str, source: str, page: str) -> str:
    def turn(found: re.Match[str]) -> str:
        target = urlsplit(found["target"])
        if target.scheme or target.netloc or not target.path:
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target.path))
        place = find_place(path)
        if place is None and (ROOT / path).exists():
            return found["text"]  # a file of the tree that is no page: its name is enough
        if place is None:
            return found[0]  # MkDocs says that it is not there
        way = posixpath.relpath(place, posixpath.dirname(page) or ".")
        anchor = f"#{target.fragment}" if target.fragment else ""
        return f"{found['bang']}[{found['text']}]({way}{anchor})"

    return _LINK.sub(turn, text)


def _write_formula(tex: str, *, is_block: bool) -> str:
    formula = convert(unescape(tex).strip(), display="block" if is_block else "inline")
    tag = "div" if is_block else "span"
    return f'<{tag} class="formula">{formula}</{tag}>'
