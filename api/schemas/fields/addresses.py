"""Addresses and hashes: read in any letter case and kept in lower case."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError

from api.schemas.fields.plain import TextField
from api.services.routing.token_serializers import checksum

_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{40}", re.ASCII)


class Address(TextField):
    """An EVM address, read in any case and kept in lower case: what it names must be known here, or is refused."""

    shape: ClassVar[Mapping[str, Any]] = {"type": "string", "pattern": "^0[xX][0-9a-fA-F]{40}$"}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=42, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> str:
        text = super()._deserialize(value, attr, data)
        if not _ADDRESS.fullmatch(text):
            raise ValidationError("Expected an address: 0x and 40 hexadecimal digits")
        return text.lower()


class PayeeAddress(Address):
    """An address to which money is sent: a mistyped one would lose it, so mixed case has to be that of EIP-55."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> str:
        address = super()._deserialize(value, attr, data)
        digits = value[2:]
        if digits not in (digits.lower(), digits.upper()) and digits != checksum(address)[2:]:
            raise ValidationError("The checksum (EIP-55) is wrong: a digit is, or its case; copy the address again")
        return address


class TransactionHash(TextField):
    """A transaction's hash, read in any case and kept in lower case."""

    shape: ClassVar[Mapping[str, Any]] = {"type": "string", "pattern": "^0x[0-9a-fA-F]{64}$"}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=66, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **_: Any) -> str:
        text = super()._deserialize(value, attr, data)
        if not _HASH.fullmatch(text):
            raise ValidationError("Expected a transaction hash: 0x and 64 hexadecimal digits")
        return text.lower()
