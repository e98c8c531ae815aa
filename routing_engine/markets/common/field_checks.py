"""Fields of markets that are made by hand hold what their annotations say, and nothing that merely looks like it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import chain
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from routing_engine.errors import InvalidMarket

MOST_SHOWN = 80
"""Letters of a wrong value that an error repeats."""


_INT, _TUPLE = {int}, {tuple}


def check_fields(made: object) -> None:
    """Check that each field of a dataclass holds what its annotation says, and that no swap has gas below 0.

    Every market, and what markets are made of, calls it first. What an annotation means is said once, in
    `require_held`; a field of a type that is not known there is left to its kind.

    Raises
    ------
    InvalidMarket
        Naming the field and what it holds: a float or a number of numpy would round without a word, text for a choice
        would choose something else, and gas below 0 would pay for a swap.
    """
    kind: Any = type(made)
    read, types, quick, wholes, slow, gas = _plan(kind)
    values = read(made)
    is_right = (*map(type, values),) == types
    if is_right:
        for place, holds in wholes:
            if not holds(values[place]):
                is_right = False
    if not is_right:
        for (name, hint), value in zip(quick, values, strict=True):
            require_held(name, value, hint)
    for name, hint in slow:
        require_held(name, getattr(made, name), hint)
    for name in gas:
        if getattr(made, name) < 0:
            raise InvalidMarket(name, f"must be at least 0 gas units, not {getattr(made, name)}")


def require_held(place: str, value: Any, hint: Any) -> None:
    """Raise `InvalidMarket` for a place unless its value is what a type says."""
    if hint is int:
        _require(type(value) is int, place, "must be an int", value, "convert it exactly")
    elif hint is bool:
        _require(type(value) is bool, place, "must be True or False", value)
    elif hint is str:
        _require(isinstance(value, str) and value != "", place, "must be a non-empty string", value)
    elif get_origin(hint) is tuple:
        _require_tuple(place, value, get_args(hint))
    elif get_origin(hint) in (Union, UnionType):
        if value is not None or NoneType not in get_args(hint):
            require_held(place, value, next(each for each in get_args(hint) if each is not NoneType))
    elif isinstance(hint, type) and issubclass(hint, Enum):
        known = ", ".join(f"{hint.__name__}.{name}" for name in hint.__members__)
        _require(isinstance(value, hint), place, f"must be one of {known}", value)
    elif _is_value(hint):
        article = "an" if hint.__name__[0] in "AEIOU" else "a"
        remedy = f"{hint.__name__}({'*row' if issubclass(hint, tuple) else '…'}) makes one"
        _require(isinstance(value, hint), place, f"must be {article} {hint.__name__}", value, remedy)
        if issubclass(hint, tuple):
            for field, each in get_type_hints(hint).items():
                require_held(f"{place}.{field}", getattr(value, field), each)


def is_known(hint: Any) -> bool:
    """Tell whether `require_held` knows what a type says."""
    if get_origin(hint) in (tuple, Union, UnionType):
        return all(is_known(each) for each in get_args(hint) if each not in (Ellipsis, NoneType))
    return hint in (int, bool, str) or _is_value(hint) or (isinstance(hint, type) and issubclass(hint, Enum))


def _require(is_so: bool, place: str, message: str, value: object, remedy: str = "") -> None:
    if not is_so:
        shown = repr(value)
        shown = shown if len(shown) <= MOST_SHOWN else shown[:MOST_SHOWN] + "…"
        raise InvalidMarket(place, f"{message}, not {shown}" + (f"; {remedy}" if remedy else ""))


def _require_tuple(place: str, value: Any, hints: Sequence[Any]) -> None:
    each = hints[0]
    name = each.__name__ + "s" if isinstance(each, type) and get_origin(each) is None else "tuples"
    is_long_enough = isinstance(value, tuple) and (hints[-1] is Ellipsis or len(value) == len(hints))
    counted = "" if hints[-1] is Ellipsis else f"{len(hints)} "
    _require(is_long_enough, place, f"must be a tuple of {counted}{name}", value, "tuple(…) makes one")
    for number, item in enumerate(value):
        require_held(f"{place}.{number}", item, each)


def _is_value(hint: Any) -> bool:
    return isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "_fields"))


class _Plan(NamedTuple):
    """How the fields of a class are looked at.

    Nearly all are right, so those that can be are looked at together, without a call for each: `read` gives their
    values, `types` what these are of. `wholes` are what else must hold of a value, by its place.
    """

    read: Callable[[object], tuple[Any, ...]]
    types: tuple[type, ...]
    quick: tuple[tuple[str, Any], ...]
    wholes: tuple[tuple[int, Callable[[Any], bool]], ...]
    slow: tuple[tuple[str, Any], ...]
    gas: tuple[str, ...]


@cache
def _plan(kind: Any) -> _Plan:
    hints = get_type_hints(kind)
    quick: list[tuple[str, Any]] = []
    slow: list[tuple[str, Any]] = []
    wholes: list[tuple[int, Callable[[Any], bool]]] = []
    for field in fields(kind):
        hint = hints[field.name]
        holds = _look_through(hint)
        is_plain = isinstance(hint, type) and get_origin(hint) is None and not issubclass(hint, tuple)
        if holds is not None:
            wholes.append((len(quick), holds))
        (quick if is_plain or holds is not None else slow).append((field.name, hint))
    names = [name for name, _ in quick]
    types = tuple(get_origin(hint) or hint for _, hint in quick)
    gas = tuple(name for name, hint in quick if hint is int and (name == "gas" or name.startswith("gas_")))
    return _Plan(_make_reader(names), types, tuple(quick), tuple(wholes), tuple(slow), gas)


def _look_through(hint: Any) -> Callable[[Any], bool] | None:
    """Return what tells at once that a text or a long tuple is right; None for types that need more or nothing."""
    if hint is str:
        return bool
    kinds = {*get_args(hint)} - {Ellipsis}
    if get_origin(hint) is not tuple or len(kinds) != 1:
        return None
    (each,) = kinds
    length = None if Ellipsis in get_args(hint) else len(get_args(hint))
    if get_origin(each) is tuple and {*get_args(each)} == {int}:
        width = {len(get_args(each))}
        return lambda rows: (
            _TUPLE.issuperset(map(type, rows))
            and width.issuperset(map(len, rows))
            and {*map(type, chain.from_iterable(rows))} <= _INT
        )
    if isinstance(each, type) and get_origin(each) is None and not hasattr(each, "_fields"):
        return lambda values: kinds.issuperset(map(type, values)) and length in (None, len(values))
    return None


def _make_reader(names: Sequence[str]) -> Callable[[object], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda made: tuple(getattr(made, name) for name in names)
