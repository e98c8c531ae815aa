"""Joins a script with the ES modules that it imports, and a stylesheet with the sheets that it imports.

Only what the page's sources use is understood. Everything else is refused, so that nothing is joined wrongly.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_IMPORT = re.compile(r'^import (?:\{([\s\w$,]*)\} from )?"(\.\.?/[\w/-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function\*?|class|const) (\w+))", re.MULTILINE)
_DECLARED = re.compile(r"^(?:async function|function\*?|class|const|let|var) ([\w$]+)", re.MULTILINE)
_LEFT_OVER = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
_DYNAMIC = re.compile(r"^(?!\s*(?://|/?\*)).*\bimport\s*[(.].*$", re.MULTILINE)
_SHEET_IMPORT = re.compile(r'^@import "([\w/-]+\.css)"(?: ([^;"]+))?;$', re.MULTILINE)
_SHEET_REFUSED = re.compile(r"@import|@charset|</|url\((?![\"']?(?:data:|#))[^)]*", re.IGNORECASE)


class CannotJoin(Exception):
    """A source uses what is not understood here."""


def list_imports(path: Path) -> tuple[Path, ...]:
    """Return the files that a script or a stylesheet imports, in order."""
    pattern, group = (_SHEET_IMPORT, 1) if path.suffix == ".css" else (_IMPORT, 2)
    return tuple(_locate(path, match[group]) for match in pattern.finditer(_read(path)))


def join_script(entry: Path) -> str:
    """Return one script that does what `entry` does with all its imports.

    The modules stand in one function, each after those that it imports, so a name means the same in all of them and
    nothing outside: all can be shortened.

    Raises
    ------
    CannotJoin
        For imports in a circle, a form of import or export that is not understood, or a name with two meanings.
    """
    paths = tuple(_order_modules(entry, ()))
    _require_own_names(paths)
    return "(() => {\n" + "\n".join(_take_body(path) for path in paths) + "\n})();"


def list_names(path: Path) -> tuple[str, ...]:
    """Return what a script declares outside its functions, in order."""
    return tuple(match[1] for match in _DECLARED.finditer(_EXPORT.sub("", _read(path))))


def join_stylesheet(entry: Path) -> str:
    """Return one stylesheet with the sheets that `entry` imports, for certain media where the import says so.

    Raises
    ------
    CannotJoin
        For what would mean something else in another place, such as the address of a file.
    """

    def put_in(match: re.Match[str]) -> str:
        content = join_stylesheet(_locate(entry, match[1]))
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


def _require_own_names(paths: Iterable[Path]) -> None:
    """Refuse a name that two modules declare: joined, one would take the other's place."""
    owners: dict[str, str] = {}
    for path in paths:
        for name in list_names(path):
            if name in owners:
                raise CannotJoin(f"{path.name}: {name} is declared in {owners[name]} too")
            owners[name] = path.name


def _take_body(path: Path) -> str:
    """Return a module without its imports and exports."""
    text = _read(path)
    for names, file in _IMPORT.findall(text):
        given = {match[1] for match in _EXPORT.finditer(_read(_locate(path, file)))}
        missing = {name.strip() for name in names.split(",")} - given - {""}
        if missing:
            raise CannotJoin(f"{path.name}: {file} does not export {', '.join(sorted(missing))}")
    body = _EXPORT.sub("", _IMPORT.sub("", text))
    refused = _LEFT_OVER.search(body) or _DYNAMIC.search(body)
    if refused:
        raise CannotJoin(f"{path.name}: {refused[0].strip()}")
    return body


def _locate(path: Path, imported: str) -> Path:
    """Return the file that a source names, by one path whoever names it."""
    return Path(os.path.normpath(path.parent / imported))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise CannotJoin(f"{path.name} is imported, but not there") from error
