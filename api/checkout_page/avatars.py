"""Letters on coloured discs instead of logos from other people's servers."""

from __future__ import annotations

import zlib

HUES = 12


def pick_letter(name: str) -> str:
    """Return the first letter or digit of a name, or a dot where it has none."""
    return next((sign for sign in name if sign.isalnum()), "·")


def pick_hue(name: str) -> int:
    """Return the number of a name's colour, always the same."""
    return zlib.crc32(name.encode()) % HUES
