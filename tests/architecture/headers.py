"""Headers of packages: what lives there, what it may import, where to begin reading."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from tests.architecture.rooms import join_modules
from tests.architecture.source import read_modules

MAY_IMPORT = re.compile(r"May import (.+?`)\.")
IMPORTS_NOTHING = "Imports nothing else of this tree."
BEGIN = re.compile(r"Begin with `([\w/]+\.py)`\.")


def read_header(package: str) -> str:
    """Return a package's docstring, its line breaks as spaces."""
    return " ".join((ast.get_docstring(read_modules()[package].tree) or "").split())


def allowed_rooms(header: str) -> set[str] | None:
    """Return what a header allows to import; None if it does not say."""
    found = MAY_IMPORT.search(header)
    if found:
        return set(re.findall(r"`([\w.]+)`", found[1]))
    return set() if IMPORTS_NOTHING in header else None


def name_packages() -> list[str]:
    """Return the names of all packages, the three themselves among them."""
    return [name for name, module in read_modules().items() if module.path.name == "__init__.py"]


@cache
def imported_rooms() -> Mapping[str, set[str]]:
    """Return for each package the rooms outside it that its modules import from.

    A room is named as far as needed: another of the three packages, or the first part in which its path differs from
    the package's own, without the name of the three that both are in.
    """
    packages = name_packages()
    rooms: dict[str, set[str]] = defaultdict(set)
    for one, other in join_modules().edges:
        for package in packages:
            is_inside = f"{one}.".startswith(f"{package}.")
            is_around = f"{package}.".startswith(f"{other}.") or f"{other}.".startswith(f"{package}.")
            if is_inside and not is_around:
                rooms[package].add(name_room(package, other))
    return {package: rooms[package] for package in packages}


def name_room(package: str, module: str) -> str:
    """Return the first part of a module's path that is not the package's."""
    mine, path = package.split("."), module.split(".")
    common = next(n for n, part in enumerate(path) if n >= len(mine) or part != mine[n])
    return ".".join(path[min(common, 1) : common + 1])
