"""What is wrong with a JSON text, in words of our own."""

from __future__ import annotations

import re
from json import JSONDecodeError

MOST_DIGITS = 4300
"""Python reads no longer integer, and tells the caller to change its settings; no amount has more than 80."""

_LONG = re.compile(rb"[0-9]{%d,}" % (MOST_DIGITS + 1))


def describe_fault(text: bytes, error: ValueError) -> str:
    """Return why a JSON text was not read, as what `json.loads` raised for it says."""
    if isinstance(error, JSONDecodeError):
        return f"is not valid JSON: {error}; is it truncated?"
    found = _LONG.search(text)
    if found is None:
        return f"is not valid JSON: {error}"
    return f"has a number of {len(found[0]):,} digits at character {found.start():,}; no amount has so many, correct it"
