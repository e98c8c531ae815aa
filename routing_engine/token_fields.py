"""What the fields of a token may hold."""

from __future__ import annotations

import re

from routing_engine.errors import InvalidRequest

MOST_DECIMALS = 255
"""`decimals()` of a contract returns a uint8."""

_ADDRESS = re.compile("0x[0-9a-fA-F]{40}")


def read_address(address: object) -> str:
    """Return an address in lower case.

    Raises
    ------
    InvalidRequest
        Unless it is ``0x`` and 40 hex digits.
    """
    if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
        raise InvalidRequest("address", f"must be 0x and 40 hex digits, not {str(address)[:60]!r}; copy it in full")
    return address.lower()


def check_decimals(decimals: object) -> None:
    """Raise `InvalidRequest` unless these are decimals that a contract could have."""
    if isinstance(decimals, bool) or not isinstance(decimals, int) or not 0 <= decimals <= MOST_DECIMALS:
        raise InvalidRequest("decimals", f"must be an int from 0 to {MOST_DECIMALS}, not {decimals!r}")
