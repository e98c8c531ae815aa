"""Read a JSON body that may be anything at all."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

from api.domain.errors import InvalidData

MAX_BODY_BYTES = 64 * 1024
MOST_NESTED = 500
GIVEN_TWICE = "Given twice"

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
"""A bracket, or a string as a whole, whose brackets mean nothing."""

_NAMES = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}


def parse_object(raw: bytes | str) -> dict[str, Any]:
    """Parse a request body that must be a JSON object.

    Parameters
    ----------
    raw : bytes or str
        UTF-8 text, or a text frame; an empty one counts as an empty object, so that each required property is named.

    Raises
    ------
    InvalidData
        When it is not a JSON object, or holds a number that no computer keeps, or is nested absurdly deep.
    """
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
    except UnicodeDecodeError as error:
        raise InvalidData.at("", f"The body is not UTF-8 (byte {error.start})") from None
    if not text.strip():
        return {}
    _refuse_deep(text)
    try:
        value = json.loads(
            text, parse_constant=_refuse_constant, parse_float=_require_finite, object_pairs_hook=_refuse_repeated
        )
    except json.JSONDecodeError as error:
        raise InvalidData.at("", f"Malformed JSON at line {error.lineno}, column {error.colno}: {error.msg}") from None
    except ValueError:
        # What is left is an integer beyond the interpreter's limit of digits.
        raise InvalidData.at("", "The JSON holds a number with too many digits") from None
    if not isinstance(value, dict):
        raise InvalidData.at("", f"Expected object, received {json_type(value)}")
    return value


def _refuse_deep(text: str) -> None:
    """Refuse brackets within brackets beyond any use.

    Python's own bound is its recursion limit, which an imported library may raise until such a text ends the process.
    """
    if text.count("[") + text.count("{") <= MOST_NESTED:
        return
    depth = 0
    for found in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth > MOST_NESTED:
            raise InvalidData.at("", "The JSON is nested too deeply")


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object, unless a property comes twice: one of the two would be ignored."""
    made = dict(pairs)
    if len(made) < len(pairs):
        name = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise InvalidData.at(name, GIVEN_TWICE)
    return made


def json_type(value: object) -> str:
    """Name the JSON type of a parsed value."""
    return "null" if value is None else _NAMES[type(value)]


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidData.at("", f"Malformed JSON: {name} is not a JSON value")


def _require_finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise InvalidData.at("", "The JSON holds a number beyond the range of a double")
    return value
