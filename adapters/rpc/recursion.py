"""Importing libraries of Ethereum's foundation without what they do to Python's own limits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def keep_recursion_limit() -> Iterator[None]:
    """Put Python's recursion limit back after the imports inside.

    ``web3`` and ``eth_account`` load ``py_ecc``, which raises the limit a hundredfold for pairings that nobody here
    computes. A deeply nested JSON text then ends the process instead of raising an error.
    """
    limit = sys.getrecursionlimit()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
