"""What the fields of a token may hold."""

from __future__ import annotations

import re
from enum import StrEnum

from routing_engine.errors import InvalidRequest

_ADDRESS = re.compile("0x[0-9a-fA-F]{40}")


class Transfers(StrEnum):
    """How a token's contract moves amounts."""

    EXACT = "exact"
    """What is sent arrives, and balances change by transfers only."""
    FEE_ON_TRANSFER = "fee_on_transfer"
    """Less arrives than was sent."""
    REBASING = "rebasing"
    """Balances change without a transfer."""


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


def check_chain_id(chain_id: object) -> None:
    """Raise `InvalidRequest` unless this is the number of a chain."""
    if isinstance(chain_id, bool) or not isinstance(chain_id, int) or chain_id < 1:
        raise InvalidRequest("chain_id", f"must be an int of at least 1, such as 1 of Ethereum, not {chain_id!r}")


def check_symbol(symbol: object) -> None:
    """Raise `InvalidRequest` unless this is text; it may be empty, as a contract may have none."""
    if not isinstance(symbol, str):
        raise InvalidRequest("symbol", f"must be text, such as 'WETH', not {symbol!r}; '' where there is none")


def printable(text: str) -> str:
    """Replace what could steer a terminal: symbols and names come from files and chains."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def check_decimals(decimals: object, most: int) -> None:
    """Raise `InvalidRequest` unless these are decimals of a token of which an amount holds a whole one."""
    if isinstance(decimals, bool) or not isinstance(decimals, int) or not 0 <= decimals <= most:
        raise InvalidRequest("decimals", f"must be an int from 0 to {most}, not {decimals!r}")


def check_transfers(transfers: object) -> None:
    """Raise `InvalidRequest` unless this says how a contract moves amounts."""
    if not isinstance(transfers, Transfers):
        known = ", ".join(f"Transfers.{name}" for name in Transfers.__members__)
        raise InvalidRequest("transfers", f"must be one of {known}, not {transfers!r}")
