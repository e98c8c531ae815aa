"""How the fields of a market are written to its record and read again, declared once for each type of field.

`BaseMarket` derives records from the fields of a dataclass. `BY_TYPE` knows the plain types; for the others an
annotation carries a `Codec`::

    reserve0: BigInt
    ticks: Annotated[tuple[Tick, ...], TICKS]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, TypeAlias, get_type_hints

from routing_engine.markets.common.record import (
    Record,
    read_bool,
    read_choice,
    read_int,
    read_ints,
    read_list,
    read_text,
    read_token,
    read_tokens,
    require,
    to_int,
)
from routing_engine.model import Token

Tokens: TypeAlias = Mapping[str, Token]
"""From `Token.key` to tokens."""


@dataclass(frozen=True, slots=True)
class Codec:
    """How one field is written and read.

    Parameters
    ----------
    write : callable
        Takes the record, the field's name and its value; puts what is JSON-ready into the record.
    read : callable
        Takes the record, the field's name and the tokens by key; returns the value, or raises `InvalidMarket`, which
        names the field.
    """

    write: Callable[[dict[str, Any], str, Any], None]
    read: Callable[[Record, str, Tokens], Any]


def make_codec(write: Callable[[Any], Any], read: Callable[[Record, str], Any]) -> Codec:
    """Return the codec of a field that stands in the record under its own name and needs no token."""

    def put(record: dict[str, Any], field: str, value: Any) -> None:
        record[field] = write(value)

    return Codec(put, lambda record, field, _: read(record, field))


def make_row_codec(
    width: int, write: Callable[[Any], Sequence[Any]], read: Callable[[Sequence[Any], str], Any]
) -> Codec:
    """Return the codec of a tuple whose items are written as rows of `width` values.

    Parameters
    ----------
    width : int
        Values of each row.
    write : callable
        Takes an item, returns its row.
    read : callable
        Takes a row and the name to give in errors, ``field.number``; returns the item.
    """

    def read_rows(record: Record, field: str) -> tuple[Any, ...]:
        rows = read_list(record, field, width)
        return tuple(read(row, f"{field}.{number}") for number, row in enumerate(rows))

    return make_codec(lambda items: [list(write(item)) for item in items], read_rows)


def make_joint_codec(name: str, place: int, widths: int, meanings: Sequence[str]) -> Codec:
    """Return the codec of a tuple of integers that shares the list `name` in the record with other fields.

    Parameters
    ----------
    name : str
        Of the list in the record.
    place : int
        Which row of it is this field's; fields must be declared in the order of their rows.
    widths : int
        Integers of each row.
    meanings : sequence of str
        What each row holds, for the error where there are more or fewer.
    """

    def put(record: dict[str, Any], _: str, value: Sequence[int]) -> None:
        record.setdefault(name, []).append([str(each) for each in value])

    def get(record: Record, _: str, __: Tokens) -> tuple[int, ...]:
        rows = read_list(record, name, widths)
        require(len(rows) == len(meanings), name, f"must be {len(meanings)} rows: {', '.join(meanings)}")
        return tuple(to_int(each, name) for each in rows[place])

    return Codec(put, get)


def _choice_codec(choices: type[StrEnum]) -> Codec:
    return make_codec(lambda value: value.value, lambda record, field: read_choice(record, field, choices))


def _put_value(record: dict[str, Any], field: str, value: Any) -> None:
    record[field] = value


def _put_digits(record: dict[str, Any], field: str, number: int) -> None:
    record[field] = str(number)


def _put_token(record: dict[str, Any], field: str, token: Token) -> None:
    record[field] = token.key


def _put_tokens(record: dict[str, Any], field: str, tokens: Sequence[Token]) -> None:
    record[field] = [token.key for token in tokens]


def _put_all_digits(record: dict[str, Any], field: str, numbers: Sequence[int]) -> None:
    record[field] = [str(number) for number in numbers]


DIGITS = Codec(_put_digits, lambda record, field, _: read_int(record, field))

BigInt: TypeAlias = Annotated[int, DIGITS]
"""An integer that may exceed 2**53, the largest that every reader of JSON keeps: a digit string in records."""

BY_TYPE: Mapping[Any, Codec] = {
    str: Codec(_put_value, lambda record, field, _: read_text(record, field)),
    int: Codec(_put_value, lambda record, field, _: read_int(record, field)),
    bool: Codec(_put_value, lambda record, field, _: read_bool(record, field)),
    Token: Codec(_put_token, read_token),
    tuple[Token, ...]: Codec(_put_tokens, read_tokens),
    tuple[int, ...]: Codec(_put_all_digits, lambda record, field, _: read_ints(record, field)),
}
"""What a field's type says without an annotation; of a `StrEnum` the value is written."""

TICKS = make_codec(
    lambda ticks: [[index, str(net)] for index, net in ticks],
    lambda record, field: tuple(
        (to_int(index, field), to_int(net, field)) for index, net in read_list(record, field, 2)
    ),
)
"""Of initialised ticks, each an index and the liquidity that is added there."""


@cache
def list_codecs(kind: type) -> tuple[tuple[str, Codec], ...]:
    """List the fields of a dataclass in their order, each with its codec.

    Raises
    ------
    TypeError
        If a field's type does not say how it is written.
    """
    hints = get_type_hints(kind, include_extras=True)
    return tuple((field.name, _codec(hints[field.name], f"{kind.__name__}.{field.name}")) for field in fields(kind))


def _codec(hint: Any, name: str) -> Codec:
    for extra in getattr(hint, "__metadata__", ()):
        if isinstance(extra, Codec):
            return extra
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _choice_codec(hint)
    if hint not in BY_TYPE:
        raise TypeError(f"{name}: nothing says how {hint} is written to a record; annotate it with a Codec")
    return BY_TYPE[hint]
