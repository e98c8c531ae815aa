"""How deeply a JSON text is nested, known before it is parsed.

Python's own bound on nesting is its recursion limit, which any imported library may raise (web3 does), until a text of
brackets ends the process.
"""

from __future__ import annotations

import numpy as np

MOST_NESTED = 200
"""Brackets around each other beyond any use."""
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class TooDeep(ValueError):
    """A JSON text has more brackets around each other than anybody means."""


def refuse_deep(text: bytes) -> None:
    """Refuse a JSON text that is nested too deeply; brackets within strings count.

    Raises
    ------
    TooDeep
        If it is nested deeper than `MOST_NESTED`.
    """
    brackets = np.frombuffer(text.translate(None, _NO_BRACKETS), np.uint8)
    opening = (brackets == ord("[")) | (brackets == ord("{"))
    if brackets.size > MOST_NESTED and np.where(opening, 1, -1).cumsum().max() > MOST_NESTED:
        raise TooDeep(f"nested deeper than {MOST_NESTED}")
