"""Between JSON and Python: answers become dataclasses, bodies become JSON."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


class NotAsDescribed(ValueError):
    """A JSON value is not of the type that it is to be read as; the message names where."""


def read_value(kind: Any, value: object, where: str = "") -> Any:
    """Return a JSON value as `kind`.

    Properties that a dataclass does not have are left out: later versions of the service may add some. Digit strings
    become integers where `kind` is `int`, and moments become `datetime`. Words are not checked.

    Raises
    ------
    NotAsDescribed
        If something is missing or of another type.
    """
    origin = get_origin(kind)
    if origin in (Union, UnionType):  # `Literal[…] | None` is the first
        (inner,) = (each for each in get_args(kind) if each is not NoneType)
        return None if value is None else read_value(inner, value, where)
    if origin is list and isinstance(value, list):
        (inner,) = get_args(kind)
        return [read_value(inner, each, f"{where}[{number}]") for number, each in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        inner = get_args(kind)[1]
        return {name: read_value(inner, each, f"{where}.{name}") for name, each in value.items()}
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        return _read_object(kind, value, where)
    return value if kind is Any else _read_scalar(kind, value, where)


def _read_object(kind: Any, value: Mapping[str, object], where: str) -> object:
    given = {to_snake(name): each for name, each in value.items()}
    read = {}
    for name, hint, is_required in _list_fields(kind):
        if name in given:
            read[name] = read_value(hint, given[name], f"{where}.{name}")
        elif is_required:
            raise NotAsDescribed(f"{where}.{name} is missing".lstrip("."))
    return kind(**read)


def _read_scalar(kind: Any, value: object, where: str) -> object:
    try:
        if kind is int and isinstance(value, str) and re.fullmatch(r"[0-9]{1,78}", value):
            return int(value)
        if kind is datetime and isinstance(value, str):
            return datetime.fromisoformat(value)
        expected = {float: (int, float)}.get(kind, str if get_origin(kind) is Literal else kind)
        if isinstance(value, expected) and (kind is bool or not isinstance(value, bool)):
            return value
    except ValueError:
        pass
    raise NotAsDescribed(f"{where.lstrip('.') or 'the answer'} is {value!r:.100}, which can't be read")


@cache
def _list_fields(kind: Any) -> list[tuple[str, Any, bool]]:
    """Return name, type and whether it has to be there, for each field of a dataclass."""
    hints = get_type_hints(kind)
    found: tuple[Field[Any], ...] = fields(kind)
    return [(field.name, hints[field.name], field.default is MISSING) for field in found]


@cache
def to_snake(json_name: str) -> str:
    """Return the Python name of a property: `fromToken` is `from_token`, `from` is `from_`."""
    snake = re.sub(r"(?<=[a-z0-9])([A-Z]+)", r"_\1", json_name).lower()
    return f"{snake}_" if keyword.iskeyword(snake) else snake


def write_value(value: object, where: str = "") -> Any:
    """Return a body, or a part of one, as it goes into JSON: moments as text, with their time zone.

    Raises
    ------
    ValueError
        If a moment has no time zone: it would be another one on another machine; or if something has no form in JSON,
        such as a Decimal. `where` names the property.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{where.lstrip('.')}: {value} has no time zone; give it one, such as datetime.now(UTC)")
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: write_value(each, f"{where}.{name}") for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [write_value(each, f"{where}.{number}") for number, each in enumerate(value)]
    if isinstance(value, Decimal):
        example = "2500 with 2 decimals for 25.00"
        raise ValueError(f"{where.lstrip('.')} is {value!r:.100}: give an int in the smallest unit, such as {example}")
    if isinstance(value, date):
        raise ValueError(f"{where.lstrip('.')} is {value!r}: a day is no moment; give a datetime with its time zone")
    if value is not None and not isinstance(value, str | int | float):
        raise ValueError(f"{where.lstrip('.')} is {value!r:.100}, which JSON can't have")
    return value


def write_camel(values: Mapping[str, object]) -> dict[str, Any]:
    """Return a body of routes and quotes, whose properties the interface writes as `fromToken`."""
    return {_to_camel(name): write_value(value, name) for name, value in values.items() if value is not None}


def _to_camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
