"""Reading the fields of a market's record, with errors that name the field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from routing_engine.errors import InvalidMarket
from routing_engine.model import Token

Record = Mapping[str, Any]
Choice = TypeVar("Choice", bound=StrEnum)


def read(record: Record, field: str) -> Any:
    """Return the raw value of `field`.

    Raises
    ------
    InvalidMarket
        If it is absent.
    """
    try:
        return record[field]
    except KeyError:
        raise InvalidMarket(field, "is missing; add it to the market's record") from None


def read_text(record: Record, field: str) -> str:
    """Return a non-empty string."""
    value = read(record, field)
    if not isinstance(value, str) or not value:
        raise InvalidMarket(field, f"must be a non-empty string, not {value!r}")
    return value


def to_int(value: object, field: str) -> int:
    """Return an integer given as one, or as a string of digits with an optional minus sign."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= 80 and value.removeprefix("-").isdecimal() and value.isascii():
        return int(value)
    raise InvalidMarket(field, f"must be an integer or a string of at most 80 digits, not {str(value)[:80]!r}")


def read_int(record: Record, field: str) -> int:
    """Return the integer at `field`; see `to_int`."""
    return to_int(read(record, field), field)


def read_bool(record: Record, field: str) -> bool:
    """Return true or false, and nothing that merely counts as one."""
    value = read(record, field)
    require(isinstance(value, bool), field, "must be true or false")
    return bool(value)


def read_token(record: Record, field: str, tokens: Mapping[str, Token]) -> Token:
    """Return the token whose `Token.key` stands at `field`."""
    key = read_text(record, field)
    token = tokens.get(key)
    if token is None:
        raise InvalidMarket(field, f"names the token {key!r}, which is not in the list of tokens; add it there")
    return token


def read_choice(record: Record, field: str, choices: type[Choice]) -> Choice:
    """Return the member of `choices` whose value stands at `field`."""
    text = read_text(record, field)
    if text not in list(choices):
        raise InvalidMarket(field, f"must be one of {', '.join(choices)}, not {text!r}")
    return choices(text)


def read_tokens(record: Record, field: str, tokens: Mapping[str, Token]) -> tuple[Token, ...]:
    """Return the tokens whose `Token.key` stand in the list at `field`."""
    keys = _read_values(record, field)
    for key in keys:
        if key not in tokens:
            raise InvalidMarket(field, f"names the token {key!r}, which is not in the list of tokens; add it there")
    return tuple(tokens[key] for key in keys)


def read_ints(record: Record, field: str) -> tuple[int, ...]:
    """Return the list of integers at `field`, given as such or as digit strings."""
    return tuple(to_int(value, f"{field}.{number}") for number, value in enumerate(_read_values(record, field)))


def read_list(record: Record, field: str, width: int) -> Sequence[Sequence[Any]]:
    """Return a list of rows of `width` values each."""
    rows = read(record, field)
    if not isinstance(rows, list | tuple):
        raise InvalidMarket(field, f"must be a list of rows of {width} values")
    for number, row in enumerate(rows):
        if not isinstance(row, list | tuple) or len(row) != width:
            raise InvalidMarket(f"{field}.{number}", f"must be a row of {width} values")
    return rows


def require(condition: bool, field: str, message: str) -> None:
    """Raise `InvalidMarket` for `field` unless `condition` holds."""
    if not condition:
        raise InvalidMarket(field, message)


def _read_values(record: Record, field: str) -> Sequence[Any]:
    values = read(record, field)
    if not isinstance(values, list | tuple):
        raise InvalidMarket(field, f"must be a list, not {values!r}")
    return values
