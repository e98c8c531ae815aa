"""Every kind of market that is installed, and what reads records and pools of all kinds.

A kind is one package and one line of package metadata, in the group ``routing_engine.markets``, inside this library as
outside it. The metadata is read when the first record or pool is, and of records only the kinds that occur are loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from routing_engine.errors import InvalidMarket
from routing_engine.markets.common.kind import MarketKind, PoolReader
from routing_engine.markets.common.record import read_text
from routing_engine.model import Market, Token

ENTRY_POINTS = "routing_engine.markets"


def market_from_record(record: Mapping[str, Any], tokens: Mapping[str, Token]) -> Market:
    """Return the market that `record` describes.

    Parameters
    ----------
    record : mapping
        As `Market.to_record` gives it.
    tokens : mapping of str to Token
        From `Token.key` to tokens.

    Raises
    ------
    InvalidMarket
        If a field is missing or impossible, or the kind is unknown.
    """
    name = read_text(record, "kind")
    if name not in _entries():
        known = ", ".join(_entries()) or "none: install this library, as its kinds are found by its metadata"
        raise InvalidMarket("kind", f"{name!r} is unknown; known are {known}")
    return load_kind(name).market.from_record(record, tokens)


@cache
def load_kind(name: str) -> MarketKind:
    """Return an installed kind.

    Raises
    ------
    ValueError
        If what the entry point names is another kind.
    """
    kind = _entries()[name].load()
    if not isinstance(kind, MarketKind) or kind.market.kind != name:
        raise ValueError(
            f"the entry point {name!r} in {ENTRY_POINTS} must name a MarketKind whose market has this kind"
        )
    return kind


def installed_kinds() -> dict[str, MarketKind]:
    """Return every installed kind by name."""
    return {name: load_kind(name) for name in _entries()}


@cache
def pool_readers() -> Mapping[str, PoolReader]:
    """Return what builds markets from pools of the neutral format, by a pool's ``type``.

    Raises
    ------
    ValueError
        If two kinds read one type.
    """
    readers: dict[str, PoolReader] = {}
    for name, kind in installed_kinds().items():
        for type_, reader in kind.pool_readers.items():
            if type_ in readers:
                raise ValueError(f"the market kind {name!r} reads pools of type {type_!r}, as another kind does")
            readers[type_] = reader
    return readers


@cache
def _entries() -> Mapping[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=ENTRY_POINTS)):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise ValueError(f"two packages offer the market kind {entry.name!r}: {other.value} and {entry.value}")
    return found
