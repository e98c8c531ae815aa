"""Fields of markets that are made by hand: names that are text; integers, and nothing that merely looks like one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, get_args, get_origin, get_type_hints

from routing_engine.errors import InvalidMarket

_INT = {int}


NAMES = ("id", "protocol")
"""What every market is called by; without text, a route or a record could not speak of it."""


def check_fields(market: object) -> None:
    """Check that names are text, and that fields which are declared as integers, or as tuples of them, hold such.

    Raises
    ------
    InvalidMarket
        Naming the field and what it holds: a float or a number of numpy would round without a word, and gas below 0
        would pay for a swap.
    """
    for name in NAMES:
        text = getattr(market, name)
        if not isinstance(text, str) or not text:
            raise InvalidMarket(name, f"must be a non-empty string, not {text!r}")
    kind: Any = type(market)
    names, read, tuple_names = _find_integers(kind)
    if not {*map(type, read(market))} <= _INT:
        for name in names:
            _require_int(name, getattr(market, name))
    for name in _find_gas(kind):
        if getattr(market, name) < 0:
            raise InvalidMarket(name, f"must be at least 0 gas units, not {getattr(market, name)}")
    for name in tuple_names:
        values = getattr(market, name)
        if not isinstance(values, tuple):
            raise InvalidMarket(name, f"must be a tuple of ints, not {values!r}")
        if not {*map(type, values)} <= _INT:
            for value in values:
                _require_int(name, value)


def _require_int(name: str, value: object) -> None:
    if type(value) is not int:
        raise InvalidMarket(name, f"must be an int, not {value!r}; convert it exactly")


@cache
def _find_gas(kind: Any) -> tuple[str, ...]:
    """Return the names of a dataclass's fields that hold gas units."""
    return tuple(name for name in _find_integers(kind)[0] if name == "gas" or name.startswith("gas_"))


@cache
def _find_integers(kind: Any) -> tuple[tuple[str, ...], Callable[[object], tuple[Any, ...]], tuple[str, ...]]:
    """Return the names of a dataclass's fields that are integers, what reads them all, and names of tuples of them."""
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    single = tuple(name for name in names if hints[name] is int)
    tuples = tuple(name for name in names if get_origin(hints[name]) is tuple and {*get_args(hints[name])} <= _OF_INTS)
    return single, _make_reader(single), tuples


_OF_INTS = {int, Ellipsis}


def _make_reader(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda market: tuple(getattr(market, name) for name in names)
