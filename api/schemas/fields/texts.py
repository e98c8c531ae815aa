"""Text of answers whose form the OpenAPI document describes: digits, addresses, hashes, moments, URLs, words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar

from marshmallow import fields

from api.domain.clock import format_time
from api.schemas.fields.plain import DIGITS_PATTERN
from api.services.routing.token_serializers import checksum

ADDRESS_EXAMPLE = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
HASH_EXAMPLE = "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060"


class Text(fields.String):
    """Text that is described in words, and by what `facts` of its class say."""

    facts: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, description: str, *, example: object = None, **options: Any) -> None:
        shown = {} if example is None else {"example": example}
        super().__init__(metadata={**self.facts, "description": description, **shown}, **options)


class Digits(Text):
    """An amount in smallest units, as digits."""

    facts: ClassVar[Mapping[str, Any]] = {"pattern": DIGITS_PATTERN, "example": "25000000"}


class MaybeAddress(Text):
    """An address on an EVM chain in the mixed case of EIP-55, or nothing."""

    facts: ClassVar[Mapping[str, Any]] = {"pattern": "^(0x[0-9a-fA-F]{40})?$", "example": ADDRESS_EXAMPLE}

    def _serialize(self, value: Any, attr: str | None, obj: Any, **_: Any) -> str | None:
        return checksum(value) if value else value


class AddressText(MaybeAddress):
    """An address on an EVM chain in the mixed case of EIP-55."""

    facts: ClassVar[Mapping[str, Any]] = {"pattern": "^0x[0-9a-fA-F]{40}$", "example": ADDRESS_EXAMPLE}


class HashText(Text):
    """The hash of a transaction."""

    facts: ClassVar[Mapping[str, Any]] = {"pattern": "^0x[0-9a-f]{64}$", "example": HASH_EXAMPLE}


class MaybeHash(Text):
    """The hash of a transaction, or nothing."""

    facts: ClassVar[Mapping[str, Any]] = {"pattern": "^(0x[0-9a-f]{64})?$", "example": HASH_EXAMPLE}


class UrlText(Text):
    """A URL."""

    facts: ClassVar[Mapping[str, Any]] = {"format": "uri", "example": "https://shop.example/thanks"}


class Moment(Text):
    """A moment in ISO 8601, UTC; it is given as that or as a `datetime`."""

    facts: ClassVar[Mapping[str, Any]] = {"format": "date-time", "example": "2026-03-01T12:00:00.000Z"}

    def _serialize(self, value: Any, attr: str | None, obj: Any, **_: Any) -> str | None:
        return format_time(value) if isinstance(value, datetime) else value


class Word(Text):
    """One of an enumeration's words, which the OpenAPI document names once."""

    def __init__(self, words: type[StrEnum], description: str, **options: Any) -> None:
        super().__init__(description, **options)
        self.words = words
