"""Reading documents of strangers: every field by name, of the expected type, within bounds, or refused by its path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any

from adapters.base import BadPayload
from routing_engine.market import UNLIMITED
from routing_engine.model import ZERO_ADDRESS

MAX_SECONDS = 30 * 24 * 3600
MAX_SHOWN = 40

_DIGITS = re.compile(r"[0-9]{1,78}", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?", re.ASCII)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Field:
    """A value in a document, and where it stands.

    Every method raises `BadPayload`, with the path, for a value that is missing, of another type or out of bounds.

    Parameters
    ----------
    value : object
        What a JSON parser gives.
    path : str
        Where it stands, for people: ``across 1-10 USDC: limits.minDeposit``.
    """

    value: Any
    path: str

    def get(self, *names: str) -> Field:
        """Go to a field within a field."""
        here = self
        for name in names:
            if not isinstance(here.value, Mapping):
                raise here.make_error("must be an object")
            path = f"{here.path}{'.' if ': ' in here.path else ': '}{name}"
            if name not in here.value:
                raise BadPayload(f"{path} is missing")
            here = Field(here.value[name], path)
        return here

    def has(self, name: str) -> bool:
        """Tell whether an object has a field that is not null."""
        return isinstance(self.value, Mapping) and self.value.get(name) is not None

    def read_items(self, most: int) -> Iterator[Field]:
        """Go through a list of at most so many entries."""
        if not isinstance(self.value, list):
            raise self.make_error("must be a list")
        if len(self.value) > most:
            raise BadPayload(f"{self.path} has {len(self.value)} entries; at most {most} are expected")
        for number, entry in enumerate(self.value):
            yield Field(entry, f"{self.path}[{number}]")

    def read_integer(self, low: int = 0, high: int = UNLIMITED) -> int:
        """Read a whole number, which may be written as a string of ASCII digits; both bounds are included."""
        value = self.value
        if isinstance(value, str) and _DIGITS.fullmatch(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.make_error("must be a whole number, or a string of at most 78 digits")
        if not low <= value <= high:
            raise self.make_error(f"must be from {low} to {high}")
        return value

    def read_decimal(self, low: int | Decimal, high: int | Decimal) -> Decimal:
        """Read a number that may have decimals, exactly as it was written; both bounds are included."""
        text = self.value if isinstance(self.value, str) else repr(self.value)
        if isinstance(self.value, bool) or not isinstance(self.value, (str, int, float)):
            raise self.make_error("must be a number")
        if isinstance(self.value, float):
            text = format(Decimal(text), "f")
        if not _NUMBER.fullmatch(text):
            raise self.make_error("must be a finite number of at most 40 digits and 40 decimals")
        number = Decimal(text)
        if not low <= number <= high:
            raise self.make_error(f"must be from {low} to {high}")
        return number

    def read_seconds(self, most: int = MAX_SECONDS) -> int:
        """Read a duration, rounded up to whole seconds."""
        return ceil(self.read_decimal(0, most))

    def read_address(self) -> str:
        """Read a contract's or an account's address; returned in lower case."""
        if not isinstance(self.value, str) or not _ADDRESS.fullmatch(self.value):
            raise self.make_error("must be an address: 0x and 40 hex digits")
        return self.value.lower()

    def read_contract(self) -> str:
        """Read an address that is not zero."""
        address = self.read_address()
        if address == ZERO_ADDRESS:
            raise self.make_error("must not be the zero address")
        return address

    def read_text(self, most: int = 200) -> str:
        """Read a string of printable characters."""
        if not isinstance(self.value, str) or len(self.value) > most or not self.value.isprintable():
            raise self.make_error(f"must be a printable string of at most {most} characters")
        return self.value

    def read_data(self, most_bytes: int) -> str:
        """Read bytes in hex with 0x in front, in lower case."""
        value = self.value
        if not isinstance(value, str) or not re.fullmatch(r"0x([0-9a-fA-F]{2})*", value, re.ASCII):
            raise self.make_error("must be bytes in hex, with 0x in front")
        if len(value) > 2 + 2 * most_bytes:
            raise BadPayload(f"{self.path} has more than {most_bytes} bytes")
        return value.lower()

    def read_flag(self) -> bool:
        """Read true or false."""
        if not isinstance(self.value, bool):
            raise self.make_error("must be true or false")
        return self.value

    def make_error(self, requirement: str) -> BadPayload:
        """Return the error that says what the value must be, and what it is."""
        shown = repr(self.value)
        shown = shown if len(shown) <= MAX_SHOWN else f"{shown[:MAX_SHOWN]}…"
        return BadPayload(f"{self.path} {requirement}, not {shown} ({type(self.value).__name__})")
