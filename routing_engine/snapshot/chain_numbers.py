"""Numbers by chain, gas prices and blocks, and the time they are of, as a caller gives them."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from types import MappingProxyType
from typing import Any

from routing_engine.errors import InvalidMarket
from routing_engine.formats.contents import NO_MOMENT, is_moment


def read_chain_numbers(field: str, numbers: Mapping[int, int] | None) -> Mapping[int, int]:
    """Return whole numbers of at least 0 by chain id, which nobody can change.

    Raises
    ------
    InvalidMarket
        If a chain id is not a positive int, or a number not an int of at least 0; it names the field.
    """
    if not isinstance(numbers, Mapping | None):
        raise InvalidMarket(field, f"must be numbers by chain id, such as {{1: 10**10}}, not {numbers!r}")
    return MappingProxyType({_read_chain(field, chain): _read(field, chain, n) for chain, n in (numbers or {}).items()})


def read_moment(taken_at: object) -> str:
    """Return an ISO 8601 time, or nothing where none is known.

    Raises
    ------
    InvalidMarket
        If it is something else.
    """
    if not isinstance(taken_at, str) or not is_moment(taken_at):
        raise InvalidMarket("taken_at", f"{NO_MOMENT}, not {str(taken_at)[:40]!r}")
    return taken_at


def _read_chain(field: str, chain: Any) -> int:
    if isinstance(chain, bool) or not hasattr(chain, "__index__") or index(chain) <= 0:
        raise InvalidMarket(field, f"chain ids must be positive ints, such as {{1: 10**10}}, not {chain!r}")
    return index(chain)


def _read(field: str, chain: Any, number: Any) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__") or index(number) < 0:
        raise InvalidMarket(field, f"chain {chain}: must be an int of at least 0, not {number!r}")
    return index(number)
