"""What a call that pays says by itself, for builders that read their own calls back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from adapters.rpc.abi import Function

REFERENCE_BYTES = 16
"""Length of an order's reference, which the paying transaction's calldata ends with."""
ADDRESS_BYTES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedPayment:
    """What a call pays, by its contract's code.

    Parameters
    ----------
    contract : str
        What pays out or takes in: the router, or the bridge's own contract.
    token_address : str
        What the recipient gets, or what a bridge takes in.
    recipient : str
        Who gets it; of a deposit, on the other chain.
    amount : int or None
        Smallest units; None where only the bridge's event tells.
    is_deposit : bool
        Whether a bridge takes it in.
    is_unwrapped : bool
        Whether the contract unwraps the coin that it pays, so that an event tells how much.
    reference : bytes
        What stands behind the arguments; may be empty.
    """

    contract: str
    token_address: str
    recipient: str
    amount: int | None
    is_deposit: bool = False
    is_unwrapped: bool = False
    reference: bytes = b""


CallReader: TypeAlias = Callable[[str, bytes], DecodedPayment | None]
"""Given a contract and the calldata of a call of it; None where that is not one that the builder makes."""


def read_arguments(function: Function, calldata: bytes) -> tuple[tuple[Any, ...], bytes] | None:
    """Return a call's arguments and its reference; None if something else stands behind them."""
    found = function.read(calldata)
    return found if found is not None and len(found[1]) in (0, REFERENCE_BYTES) else None


def read_address(word: bytes) -> str:
    """Return the address at the end of a word; one of another kind of chain becomes one that nobody here has."""
    return "0x" + word[-ADDRESS_BYTES:].hex()
