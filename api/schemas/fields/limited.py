"""Fields of routes and quotes, the same in a JSON body and in a query string."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from marshmallow import ValidationError, fields, validate

from api.schemas.fields.plain import ChainIdField, WholeNumber, expected
from routing_engine.reference.chains import CHAINS

MAX_PROTOCOLS = 100
_PROTOCOL = re.compile(r"[a-z0-9_.-]{1,64}", re.ASCII)


class SupportedChain(ChainIdField):
    """The id of a chain that routes may start and end on."""

    def __init__(self, *, metadata: Mapping[str, Any], **kwargs: Any) -> None:
        chains = ", ".join(f"{chain.chain_id} ({chain.name})" for chain in CHAINS.values())
        description = f"{metadata['description'].rstrip('.')}. One of {chains}."
        super().__init__(metadata={**metadata, "description": description}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> int:
        chain_id = super()._deserialize(value, attr, data)
        if chain_id not in CHAINS:
            supported = ", ".join(f"{chain.chain_id} ({chain.name})" for chain in CHAINS.values())
            raise ValidationError(f"Unsupported chain; use one of {supported}")
        return chain_id


class CountField(WholeNumber):
    """A small number, `minimum` … `maximum`, as an integer or a string of digits."""

    max_digits = 6

    def __init__(self, *, minimum: int, maximum: int, **kwargs: Any) -> None:
        limits = validate.Range(min=minimum, max=maximum, error="Must be {min} to {max}")
        super().__init__(validate=limits, **kwargs)
        self.minimum, self.maximum = minimum, maximum

    @property
    def shape(self) -> Mapping[str, Any]:
        """What the OpenAPI document shows: the plain form, which every client can write."""
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


def _list_words(names: Iterable[str]) -> str:
    """Return words as an error lists them; none at all is said and not shown."""
    words = [name for name in names if name]
    return f"{'' if len(words) == len(tuple(names)) else 'empty or '}one of {', '.join(words)}"


class ChoiceField(fields.String):
    """One of a few words."""

    default_error_messages = {"required": "Required", "null": "Expected string, received null"}  # noqa: RUF012 - marshmallow's type

    def __init__(self, choices: Iterable[str], **kwargs: Any) -> None:
        names = tuple(choices)
        super().__init__(validate=validate.OneOf(names, error=f"Must be {_list_words(names)}"), **kwargs)
        if isinstance(choices, type):
            self.words = choices

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> str:
        if not isinstance(value, str):
            raise expected("string", value)
        return value


class ChoicesField(fields.List[str]):
    """Some of a few words: a repeated parameter, or one string with commas between them."""

    def __init__(self, choices: Iterable[str], **kwargs: Any) -> None:
        super().__init__(ChoiceField(choices), **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> list[str | None]:
        words = dict.fromkeys(word for text in value for word in text.split(","))
        return [self.inner.deserialize(word) for word in words]


class ProtocolsField(fields.Field[frozenset[str]]):
    """Names of protocols: an array, a repeated parameter, or one string with commas between them."""

    is_multiple = True

    def __init__(self, *, metadata: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        one = {"type": "string", "pattern": f"^{_PROTOCOL.pattern}$", "example": "uniswap_v3"}
        names = {"type": "array", "items": one, "minItems": 1, "maxItems": MAX_PROTOCOLS}
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
