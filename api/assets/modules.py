"""Joins a script with the ES modules that it imports, and a stylesheet with the sheets that it imports.

Only what the page's sources use is understood. Everything else is refused, so that nothing is joined wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_IMPORT = re.compile(r'^import (?:(?:\{([^}]*)\}|\* as (\w+)) from )?"\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function\*?|class|const) (\w+))", re.MULTILINE)
_LEFT_OVER = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
_DYNAMIC = re.compile(r"^(?!\s*(?://|/?\*)).*\bimport\s*[(.].*$", re.MULTILINE)
_SHEET_IMPORT = re.compile(r'^@import "([\w-]+\.css)"(?: ([^;"]+))?;$', re.MULTILINE)
_SHEET_REFUSED = re.compile(r"@import|@charset|</|url\((?![\"']?(?:data:|#))[^)]*", re.IGNORECASE)


class CannotJoin(Exception):
    """A source uses what is not understood here."""


def list_imports(path: Path) -> tuple[Path, ...]:
    """Return the files that a script or a stylesheet imports, in order."""
    pattern, group = (_SHEET_IMPORT, 1) if path.suffix == ".css" else (_IMPORT, 3)
    return tuple(path.parent / match[group] for match in pattern.finditer(_read(path)))


def join_script(entry: Path) -> str:
    """Return one script that does what `entry` does with all its imports.

    Each module becomes a function that runs once, after those that it imports, and gives what it exports.

    Raises
    ------
    CannotJoin
        For imports in a circle, or a form of import or export that is not understood.
    """
    return "\n".join(_wrap_module(path) for path in _order_modules(entry, ()))


def join_stylesheet(entry: Path) -> str:
    """Return one stylesheet with the sheets that `entry` imports, for certain media where the import says so.

    Raises
    ------
    CannotJoin
        For what would mean something else in another place, such as the address of a file.
    """

    def put_in(match: re.Match[str]) -> str:
        content = join_stylesheet(entry.parent / match[1])
        return f"@media {match[2]} {{\n{content}}}\n" if match[2] else content

    text = _SHEET_IMPORT.sub(put_in, _read(entry))
    refused = _SHEET_REFUSED.search(text)
    if refused:
        raise CannotJoin(f"{entry.name}: {refused[0]}")
    return text


def _order_modules(path: Path, above: tuple[Path, ...], seen: set[Path] | None = None) -> Iterator[Path]:
    """Yield each module once, those that it imports before it."""
    seen = set() if seen is None else seen
    if path in above:
        circle = [each.name for each in (*above[above.index(path) :], path)]
        raise CannotJoin(f"imports in a circle: {' → '.join(circle)}")
    if path in seen:
        return
    for imported in list_imports(path):
        yield from _order_modules(imported, (*above, path), seen)
    seen.add(path)
    yield path


def _wrap_module(path: Path) -> str:
    text = _read(path)
    exported = [match[1] for match in _EXPORT.finditer(text)]
    body = _EXPORT.sub("", _IMPORT.sub(_take_names, text))
    refused = _LEFT_OVER.search(body) or _DYNAMIC.search(body)
    if refused:
        raise CannotJoin(f"{path.name}: {refused[0].strip()}")
    return f"const {_name_variable(path.name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _take_names(match: re.Match[str]) -> str:
    names, whole, file = match.groups()
    if not names and not whole:
        return ""
    taken = whole or f"{{ {re.sub(r' as ', ': ', names)} }}"
    return f"const {taken} = {_name_variable(file)};"


def _name_variable(file: str) -> str:
    return "$" + re.sub(r"\W", "_", file.removesuffix(".js"))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise CannotJoin(f"{path.name} is imported, but not there") from error
