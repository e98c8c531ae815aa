"""Every kind of market that is installed, and what reads records and pools of all kinds.

A kind is one package and one line of package metadata, in the group ``routing_engine.markets``, inside this library as
outside it. The metadata is read when the first record or pool is, and of records only the kinds that occur are loaded.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from routing_engine.errors import BrokenExtension, InvalidMarket
from routing_engine.extensions import describe_extension, load_extension
from routing_engine.market import Market
from routing_engine.markets.common.kind import MarketKind, PoolReader
from routing_engine.markets.common.record import read_text
from routing_engine.model import Token

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
        If a field is missing or impossible, or the kind is unknown or broken.
    """
    name = read_text(record, "kind")
    if name not in _entries():
        known = ", ".join(_entries()) or "none: install this library, as its kinds are found by its metadata"
        remedy = f"another one has to be installed, with an entry point in {ENTRY_POINTS!r}"
        raise InvalidMarket("kind", f"{name!r} is unknown; known are {known}; {remedy}")
    try:
        kind = load_kind(name)
    except BrokenExtension as error:
        raise InvalidMarket("kind", str(error)) from error
    return kind.market.from_record(record, tokens)


@cache
def load_kind(name: str) -> MarketKind:
    """Return an installed kind.

    Raises
    ------
    BrokenExtension
        If what the entry point names cannot be loaded, or is another kind.
    """
    entry = _entries()[name]
    kind = load_extension(entry)
    if not isinstance(kind, MarketKind) or kind.market.kind != name:
        raise BrokenExtension(describe_extension(entry), "must name a MarketKind whose market has this kind")
    return kind


def describe_kind(name: str) -> str:
    """Return an installed kind's entry point and package, for errors."""
    return describe_extension(_entries()[name])


def installed_kinds() -> dict[str, MarketKind]:
    """Return every installed kind by name; raise as `load_kind` for one that is broken."""
    return {name: load_kind(name) for name in _entries()}


@cache
def pool_readers() -> Mapping[str, PoolReader]:
    """Return what builds markets from pools of the neutral format, by a pool's ``type``.

    A kind that is broken is left out, with a warning: whether a file needs it cannot be known.

    Raises
    ------
    ValueError
        If two kinds read one type.
    """
    return {type_: load_kind(name).pool_readers[type_] for type_, name in kinds_by_type().items()}


@cache
def kinds_by_type() -> Mapping[str, str]:
    """Return which kind reads pools of a ``type``; see `pool_readers`."""
    found: dict[str, str] = {}
    for name in _entries():
        try:
            types = load_kind(name).pool_readers
        except BrokenExtension as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
            continue
        for type_ in types:
            if type_ in found:
                raise ValueError(f"the market kind {name!r} reads pools of type {type_!r}, as {found[type_]!r} does")
            found[type_] = name
    return found


@cache
def _entries() -> Mapping[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=ENTRY_POINTS)):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise ValueError(f"two packages offer the market kind {entry.name!r}: {other.value} and {entry.value}")
    return found
