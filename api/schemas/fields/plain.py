"""Strict fields: a boolean is no integer, a digit string is one only where the interface says so."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, validate

from api.bodies.request_body import json_type
from api.domain.env import EnvMode
from api.domain.money import UINT256_DIGITS, UINT256_MAX

MAX_METADATA_KEYS = 50
MAX_METADATA_BYTES = 16 * 1024
MAX_METADATA_DEPTH = 20
MAX_CHAIN_ID = 2**53 - 1
DIGITS_PATTERN = f"^[0-9]{{1,{UINT256_DIGITS}}}$"
_DIGITS = re.compile(r"[0-9]+", re.ASCII)
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and symbols that look like a space: fillers of Hangul, and the Braille pattern without dots."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def expected(kind: str, value: object) -> ValidationError:
    """Build the error of a value of the wrong type."""
    return ValidationError(f"Expected {kind}, received {json_type(value)}")


def refuse_unstorable(text: str) -> None:
    """Refuse text that no database can keep: NUL, and halves of surrogate pairs."""
    if _UNSTORABLE.search(text):
        raise ValidationError("Text must not contain NUL or a lone surrogate")


def _messages(kind: str) -> dict[str, Any]:
    return {"required": "Required", "null": f"Expected {kind}, received null"}


class TextField(fields.String):
    """Text of `min_length` … `max_length` characters."""

    default_error_messages = _messages("string")

    def __init__(self, *, min_length: int = 1, max_length: int, **kwargs: Any) -> None:
        length = validate.Length(min=min_length, max=max_length, error="Must have {min} to {max} characters")
        super().__init__(validate=length, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> str:
        if not isinstance(value, str):
            raise expected("string", value)
        refuse_unstorable(value)
        return value


class VisibleText(TextField):
    """Text of which people see something: not only spaces, marks, and characters without width."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> str:
        text = super()._deserialize(value, attr, data)
        if text and not any(map(_is_visible, text)):
            raise ValidationError("Must have a character that can be seen")
        return text


def _is_visible(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNPS" and character not in _BLANK


class IntegerField(fields.Integer):
    """A JSON integer of `minimum` … `maximum`."""

    default_error_messages = _messages("integer")

    def __init__(self, *, minimum: int, maximum: int, **kwargs: Any) -> None:
        limits = validate.Range(min=minimum, max=maximum, error="Must be {min} to {max}")
        super().__init__(validate=limits, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise expected("integer", value)
        return value


class FlagField(fields.Boolean):
    """``true`` or ``false``, and nothing that only looks like it."""

    default_error_messages = _messages("boolean")

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> bool:
        if not isinstance(value, bool):
            raise expected("boolean", value)
        return value


class WholeNumber(fields.Field[int]):
    """An integer given as a JSON integer or as a string of ASCII digits."""

    default_error_messages = _messages("integer or digit string")
    max_digits = UINT256_DIGITS
    minimum = 0

    @property
    def shape(self) -> Mapping[str, Any]:
        """What the OpenAPI document shows."""
        digits = {"type": "string", "pattern": f"^[0-9]{{1,{self.max_digits}}}$"}
        return {"oneOf": [{"type": "integer", "minimum": self.minimum}, digits]}

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if not isinstance(value, str):
            raise expected("integer or digit string", value)
        if len(value) > self.max_digits or not _DIGITS.fullmatch(value):
            raise ValidationError(f"Expected at most {self.max_digits} digits 0-9 and nothing else")
        return int(value)


class AmountField(WholeNumber):
    """An amount in smallest units: `minimum` … 2^256-1. Answers write it as a digit string."""

    def __init__(self, *, minimum: int = 1, **kwargs: Any) -> None:
        limits = validate.Range(min=minimum, max=UINT256_MAX, error="Must be {min} to 2^256-1")
        super().__init__(validate=limits, **kwargs)
        self.minimum = minimum

    def _serialize(self, value: int | None, attr: str | None, obj: Any, **_: Any) -> str | None:
        return None if value is None else str(value)


class ChainIdField(WholeNumber):
    """A chain id, as a string or an integer; which chains are supported is for the service to say."""

    max_digits = 16
    minimum = 1

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(validate=validate.Range(min=1, max=MAX_CHAIN_ID, error="Must be 1 to {max}"), **kwargs)


class EnvModeField(fields.Enum[EnvMode]):
    """The environment: ``test`` or ``live``."""

    words = EnvMode

    default_error_messages = _messages("'test' or 'live'")

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(EnvMode, by_value=fields.String, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> EnvMode:
        if not isinstance(value, str):
            raise expected("'test' or 'live'", value)
        try:
            return EnvMode(value)
        except ValueError:
            raise ValidationError("Expected 'test' or 'live'") from None

    def _serialize(self, value: EnvMode | str | None, attr: str | None, obj: Any, **_: Any) -> str | None:
        return None if value is None else str(value)


class FreeObject(fields.Dict):
    """Free-form JSON: at most 50 keys and 16 kB, text that can be stored."""

    shape: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "additionalProperties": True,
        "maxProperties": MAX_METADATA_KEYS,
    }

    default_error_messages = _messages("object")

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> Any:
        if not isinstance(value, dict):
            raise expected("object", value)
        if len(value) > MAX_METADATA_KEYS:
            raise ValidationError(f"Must have at most {MAX_METADATA_KEYS} keys")
        _refuse_unstorable_within(value)
        try:
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        except ValueError:
            raise ValidationError("Must not contain a number with thousands of digits") from None
        if len(text.encode()) > MAX_METADATA_BYTES:
            raise ValidationError(f"Must be at most {MAX_METADATA_BYTES} bytes of JSON")
        return value


def _refuse_unstorable_within(value: object) -> None:
    waiting = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth > MAX_METADATA_DEPTH:
            raise ValidationError(f"Must not be nested more than {MAX_METADATA_DEPTH} deep")
        if isinstance(item, str):
            refuse_unstorable(item)
        elif isinstance(item, list):
            waiting.extend((inner, depth + 1) for inner in item)
        elif isinstance(item, dict):
            waiting.extend((part, depth + 1) for pair in item.items() for part in pair)


class ObjectField(fields.Nested):
    """An object described by a schema of its own."""

    default_error_messages = _messages("object")

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(value, dict):
            raise expected("object", value)
        return super()._deserialize(value, *args, **kwargs)


class ListField(fields.List[Any]):
    """An array of `min_length` … `max_length` items."""

    default_error_messages = _messages("array")

    def __init__(self, inner: fields.Field[Any], *, min_length: int = 0, max_length: int, **kwargs: Any) -> None:
        self._length = validate.Length(min=min_length, max=max_length, error="Must have {min} to {max} items")
        super().__init__(inner, validate=self._length, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> list[Any]:
        if not isinstance(value, list):
            raise expected("array", value)
        self._length(value)  # first, since what is wrong with each of thousands takes long to say
        return super()._deserialize(value, attr, data, **kwargs)
