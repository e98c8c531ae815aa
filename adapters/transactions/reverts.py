"""What contracts say when they revert."""

from __future__ import annotations

import re

from adapters.rpc.abi import Function

REVERT = Function("Error(string)")
"""What Solidity reverts with; selector 08c379a0."""
LONGEST_REASON = 100
_HEX = re.compile("0x([0-9a-fA-F]{2})*", re.ASCII)


def read_revert(data: object) -> str:
    """Return what a contract said, ``Error(string)``; empty where that is not short, plain text.

    Parameters
    ----------
    data : object
        What it returned, as a node gives it: hexadecimal.
    """
    found = REVERT.read(bytes.fromhex(data[2:])) if isinstance(data, str) and _HEX.fullmatch(data) else None
    text = str(found[0][0]) if found is not None else ""
    return text if len(text) <= LONGEST_REASON and text.isascii() and text.isprintable() else ""
