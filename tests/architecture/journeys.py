"""Journeys of `docs/architecture.md`: read, held to the code, and drawn.

``python -m tests.architecture.journeys`` draws the pictures anew.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tests.architecture.rooms import join_modules
from tests.architecture.source import ROOT, Module, read_modules

DOCUMENT = ROOT / "docs" / "architecture.md"

_JOURNEY = re.compile(r"^## (?P<title>.+)\n(?P<body>(?:(?!^## ).*\n?)*)", re.MULTILINE)
_PICTURE = re.compile(r"^!\[[^\]]+\]\(([^)]+)\)$", re.MULTILINE)
_STOP = re.compile(
    r"^(?P<number>\d+)\. \[`(?P<path>[^`]+)`\]\((?P<link>[^)]+)\) `(?P<name>[\w.]+)`"
    r"(?: (?P<way>[←→]) (?P<other>\d+)(?: by the table `(?P<table>\w+)`)?)?: (?P<text>.+)$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Stop:
    """One stop of a journey.

    Parameters
    ----------
    number : int
        From 1.
    path, link, name : str
        The file, where the document's link leads, and what to look for in the file: ``function`` or ``Class.method``.
    other : int
        The stop that it is joined to; 0 for the first.
    is_caller : bool
        Whether it calls the other one, rather than being called.
    table : str
        The table that the other one writes and this one reads, instead of a call; or empty.
    """

    number: int
    path: str
    link: str
    name: str
    other: int
    is_caller: bool
    table: str

    @property
    def module(self) -> Module:
        name = self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return read_modules()[name]


@dataclass(frozen=True)
class Journey:
    """One journey, with the address of its picture below ``docs``."""

    title: str
    picture: str
    stops: tuple[Stop, ...]


def read_journeys() -> list[Journey]:
    """Return the journeys in the order of the document."""
    journeys = []
    for match in _JOURNEY.finditer(DOCUMENT.read_text()):
        (picture,) = _PICTURE.findall(match["body"])
        stops = [read_stop(found) for found in _STOP.finditer(match["body"])]
        listed = re.findall(r"^\d+\. ", match["body"], re.MULTILINE)
        assert len(stops) == len(listed), f"{match['title']}: a stop is not written as the others are"
        journeys.append(Journey(match["title"].replace("`", ""), picture, tuple(stops)))
    return journeys


def read_stop(match: re.Match[str]) -> Stop:
    """Return one stop as it is written."""
    number = int(match["number"])
    other = int(match["other"] or number - 1)
    way, table = match["way"], match["table"] or ""
    return Stop(number, match["path"], match["link"], match["name"], other, way == "→", table)


def defines(module: Module, name: str) -> bool:
    """Tell whether a module has a function, class, method or constant of this name."""
    body: list[ast.stmt] = module.tree.body
    *classes, last = name.split(".")
    for part in classes:
        body = [line for node in body if isinstance(node, ast.ClassDef) and node.name == part for line in node.body]
    return last in {defined for node in body for defined in list_defined(node)}


def list_defined(node: ast.stmt) -> list[str]:
    """Return the names that a statement defines."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign():
            return [target.id for target in node.targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def list_used(module: Module) -> set[str]:
    """Return every name and attribute that a module's code uses."""
    used = {node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name)}
    return used | {node.attr for node in ast.walk(module.tree) if isinstance(node, ast.Attribute)}


def calls(caller: Stop, callee: Stop) -> bool:
    """Tell whether the one file uses the other's name, and knows it from there or from a seam.

    A seam is a module that the caller knows and that declares a method of this name: a protocol, or a base class. What
    a package hands on is known to those who import the package.
    """
    last = callee.name.rpartition(".")[2]
    if last not in list_used(caller.module):
        return False
    graph = join_modules()
    known = {caller.module.name, *graph[caller.module.name]}
    for package in [name for name in known if read_modules()[name].path.name == "__init__.py"]:
        known |= set(graph[package])
    return callee.module.name in known or any(declares(name, last) for name in known)


def declares(module_name: str, method: str) -> bool:
    """Tell whether some class of a module has this method."""
    classes = [node for node in read_modules()[module_name].tree.body if isinstance(node, ast.ClassDef)]
    return any(method in list_defined(line) for node in classes for line in node.body)


WIDTH, ROW, BOX, INDENT, MARGIN = 820, 46, 34, 28, 12
COLOURS = {"routing_engine": "#dbeafe", "adapters": "#dcfce7", "api": "#fef3c7"}


def draw(journey: Journey) -> str:
    """Return a journey's picture: one box for each stop, indented below the stop that it is joined to."""
    depths: dict[int, int] = {}
    rows, lines = [], []
    for stop in journey.stops:
        depths[stop.number] = depths[stop.other] + 1 if stop.other else 0
        x, y = place(depths, stop.number)
        colour = COLOURS[stop.path.split("/")[0]]
        if stop.other:
            lines.append(draw_line(depths, stop))
        rows.append(
            f'<rect x="{x}" y="{y}" width="{WIDTH - x - MARGIN}" height="{BOX}" rx="6" fill="{colour}" '
            f'stroke="#64748b"/>'
            f'<text x="{x + 12}" y="{y + 22}"><tspan font-weight="bold">{stop.number}</tspan>'
            f'<tspan dx="10" font-family="monospace">{escape(stop.path)}</tspan>'
            f'<tspan dx="10" font-family="monospace" fill="#1d4ed8">{escape(stop.name)}</tspan></text>'
        )
    height = len(rows) * ROW + MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="13">\n'
        f"<title>{escape(journey.title)}</title>\n"
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n' + "\n".join([*lines, *rows]) + "\n</svg>\n"
    )


def place(depths: dict[int, int], number: int) -> tuple[int, int]:
    """Return the upper left corner of a stop's box."""
    return MARGIN + depths[number] * INDENT, MARGIN + (number - 1) * ROW


def draw_line(depths: dict[int, int], stop: Stop) -> str:
    """Return the line from the stop that one is joined to; dashed where a table lies between."""
    (x1, y1), (x2, y2) = place(depths, stop.other), place(depths, stop.number)
    dashes = ' stroke-dasharray="5 4"' if stop.table else ""
    bend = x1 + INDENT // 2
    return (
        f'<path d="M{bend} {y1 + BOX} V{y2 + BOX // 2} H{x2}" fill="none" stroke="#64748b" stroke-width="1.5"{dashes}/>'
    )


def main() -> None:
    """Draw every picture anew."""
    for journey in read_journeys():
        target: Path = DOCUMENT.parent / journey.picture
        target.write_text(draw(journey))
        print(target)


if __name__ == "__main__":
    main()
