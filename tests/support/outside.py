"""What packages from outside install, for tests in one process."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import pytest

from adapters import installed
from adapters.transactions import decoding
from api.services.ledger.evidence import listed_contracts


def install(monkeypatch: pytest.MonkeyPatch, *lines: tuple[str, str, str]) -> None:
    """Add lines, each a group, a name and what is named, to those of the installed packages."""
    added = [EntryPoint(group=group, name=name, value=value) for group, name, value in lines]

    def find(group: str, _: object) -> list[EntryPoint]:
        return [*entry_points(group=group), *(entry for entry in added if entry.group == group)]

    monkeypatch.setattr(installed, "_find_entries", find)
    forget()


def forget() -> None:
    """Have the installed builders asked again."""
    for known in (decoding.find_paying_contracts, decoding.find_intermediaries, listed_contracts._list_fixed):
        known.cache_clear()
