"""How whatever packages install is found; what of it is broken is named, and takes nothing else down."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from adapters.base import Connectable, Source, Venues, VenueUnavailable
from routing_engine.formats import Contents

logger = logging.getLogger(__name__)

ENTRY_POINTS = "routing_engine.adapters"
BRIDGES = "routing_engine.bridges"
REFUSED_S = 60.0
"""Between two readings of a source that cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenEntry:
    """An entry point that cannot be used: what it names is missing, or fails when it is imported.

    Parameters
    ----------
    name, group, package : str
        The entry point, and the package that installed it, with its version.
    reason : str
        What went wrong.
    """

    name: str
    group: str
    package: str
    reason: str

    def describe(self) -> str:
        """Return which it is, for people who are not told what is in files."""
        return f"the entry point {self.name!r} in {self.group}, of the package {self.package}, cannot be loaded"

    def connect(self, venues: Venues) -> tuple[Source, ...]:
        """Return a source that says at each reading what is wrong: others go on."""
        return (refuse_source(self.name, f"{self.describe()}: {self.reason}"),)


_broken: dict[tuple[str, str], BrokenEntry] = {}


def list_broken() -> tuple[BrokenEntry, ...]:
    """Return the entry points that this process could not load; the log has told of each once."""
    return tuple(_broken.values())


def refuse_source(name: str, reason: str) -> Source:
    """Return a source in the place of one that is broken: it never gives anything, and says why."""
    return Source(adapter=_Refusing(name, reason), interval_s=REFUSED_S, max_age_s=REFUSED_S)


class _Refusing:
    """Stands for an adapter that cannot be used."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self._reason = name, reason

    def fetch(self) -> None:
        """Say what is wrong."""
        raise VenueUnavailable(self._reason)

    def parse(self, payload: None) -> Contents:
        """Return nothing; nothing was fetched."""
        return Contents(markets=())


def load_adapters() -> dict[str, Connectable]:
    """Return what installed packages offer: the group ``routing_engine.adapters``, and the adapters of bridges.

    One that is broken is among them: it says so when it is read.
    """
    found = load_installed("adapter", ENTRY_POINTS)
    broken = {each.name: each for each in list_broken() if each.group in (ENTRY_POINTS, BRIDGES)}
    return dict(sorted((broken | found).items()))


class CannotLoad(Exception):
    """An entry point is broken without which nothing may go on."""


def load_installed(part: str, group: str = "", *, all_or_none: bool = False) -> dict[str, Any]:
    """Return a part of every installed bridge that has it, and all that a group of entry points names; sorted by name.

    What cannot be loaded is left out, logged with the package that it is of, and in `list_broken`.

    Parameters
    ----------
    part : str
        A field of `adapters.bridges.base.Bridge`, which the group ``routing_engine.bridges`` names; not known here.
    group : str
        For what is no bridge, and offers the same.
    all_or_none : bool
        Whether to raise where something cannot be loaded.

    Raises
    ------
    ValueError
        Naming the entry point that two packages have.
    CannotLoad
        Naming the entry point that is broken, if nothing may be left out.
    """
    found: dict[str, Any] = {}
    path = tuple(sys.path)
    for entry in (*_find_entries(BRIDGES, path), *_find_entries(group, path)):
        try:
            offered = entry.load()
            if entry.group == BRIDGES:
                offered = _get_part(offered, part)
        except Exception as fault:  # whatever the package of somebody else does when it is imported
            broken = _note_broken(entry, fault)
            if all_or_none:
                raise CannotLoad(f"{broken.describe()}: {broken.reason}; mend or remove the package") from fault
            continue
        if entry.name in found:
            raise ValueError(f"there are two entry points {entry.name!r} that offer the same: {part}")
        if offered is not None:
            found[entry.name] = offered
    return dict(sorted(found.items()))


@cache
def _find_entries(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return a group of entry points; the files of every installed package are read once for each search path."""
    return tuple(entry_points(group=group))


def _get_part(offered: Any, part: str) -> Any:
    if not hasattr(offered, part):
        raise TypeError("it must name a Bridge")
    return getattr(offered, part)


def _note_broken(entry: EntryPoint, fault: Exception) -> BrokenEntry:
    package = "unknown" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
    reason = f"{type(fault).__name__}: {fault}"
    broken = BrokenEntry(name=entry.name, group=entry.group, package=package, reason=reason)
    if _broken.get((entry.group, entry.name)) != broken:
        _broken[entry.group, entry.name] = broken
        logger.error("%s: %s", broken.describe(), reason, exc_info=fault)
    return broken
