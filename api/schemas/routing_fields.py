"""Fields of routes and quotes, the same in a JSON body and in a query string."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validate

from api.schemas.fields import AmountField, ChainIdField, WholeNumber, expected
from routing_engine.reference.chains import CHAINS

MAX_PROTOCOLS = 100
_PROTOCOL = re.compile(r"[a-z0-9_.-]{1,64}", re.ASCII)


class SupportedChain(ChainIdField):
    """The id of a chain that routes may start and end on."""

    def __init__(self, *, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(metadata={"type": "string", "enum": list(map(str, CHAINS)), **(metadata or {})}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> int:
        chain_id = super()._deserialize(value, attr, data)
        if chain_id not in CHAINS:
            supported = ", ".join(f"{chain.chain_id} ({chain.name})" for chain in CHAINS.values())
            raise ValidationError(f"Unsupported chain; use one of {supported}")
        return chain_id


class CountField(WholeNumber):
    """A small number, `minimum` … `maximum`, as an integer or a string of digits."""

    max_digits = 6

    def __init__(self, *, minimum: int, maximum: int, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        limits = validate.Range(min=minimum, max=maximum, error="Must be {min} to {max}")
        described = {"type": "integer", "minimum": minimum, "maximum": maximum, **(metadata or {})}
        super().__init__(validate=limits, metadata=described, **kwargs)


class ChoiceField(fields.String):
    """One of a few words."""

    default_error_messages = {"required": "Required", "null": "Expected string, received null"}  # noqa: RUF012 - marshmallow's type

    def __init__(self, choices: tuple[str, ...], **kwargs: Any) -> None:
        words = validate.OneOf(choices, error=f"Must be one of {', '.join(choices)}")
        super().__init__(validate=words, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> str:
        if not isinstance(value, str):
            raise expected("string", value)
        return value


class DigitsField(AmountField):
    """An amount that the OpenAPI document shows as a string of digits."""

    def __init__(self, *, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(metadata={"type": "string", "pattern": "^[0-9]{1,78}$", **(metadata or {})}, **kwargs)


class ProtocolsField(fields.Field[frozenset[str]]):
    """Names of protocols: an array, a repeated parameter, or one string with commas between them."""

    is_multiple = True

    def __init__(self, *, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        names = {"type": "array", "items": {"type": "string", "example": "uniswap_v3"}}
        super().__init__(metadata={**names, **(metadata or {})}, **kwargs)

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any
    ) -> frozenset[str]:  # fmt: skip
        given = [value] if isinstance(value, str) else value
        if not isinstance(given, list):
            raise expected("array of strings", value)
        names = [name for item in given for name in (item.split(",") if isinstance(item, str) else [item])]
        if not 1 <= len(names) <= MAX_PROTOCOLS:
            raise ValidationError(f"Must have 1 to {MAX_PROTOCOLS} items")
        wrong = {
            number: ["Expected the name of a protocol, such as uniswap_v3"]
            for number, name in enumerate(names)
            if not isinstance(name, str) or not _PROTOCOL.fullmatch(name)
        }
        if wrong:
            raise ValidationError(wrong)
        return frozenset(names)
