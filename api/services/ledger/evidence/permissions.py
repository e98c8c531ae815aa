"""Permissions to take a token that its holder has signed, and that somebody hands in within a transaction.

Whoever may take by an allowance of old may do so whenever he likes, for a loan or a trade. A signature that a
transaction carries shows that its holder meant something like it.
"""

from __future__ import annotations

from collections.abc import Iterable

from adapters.rpc.abi import SELECTOR_BYTES, WORD, Function
from api.services.ledger.evidence.traces import CALL, Frame

PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"
"""Where a holder's signature is checked for tokens that check none; at the same address on every chain."""
_OF_TRANSFER = "address,address,uint256,uint256,uint256,bytes32"
_PERMITTED = "((address,uint256),uint256,uint256),(address,uint256),address"

AUTHORIZATIONS = tuple(
    Function(f"transferWithAuthorization({_OF_TRANSFER},{signature})")
    for signature in ("uint8,bytes32,bytes32", "bytes")
)
"""ERC-3009: the signature names the recipient and the amount too."""
_PERMISSIONS = {
    **{each.selector: 0 for each in AUTHORIZATIONS},
    **{
        Function(f"permit({arguments})").selector: 0
        for arguments in (
            "address,address,uint256,uint256,uint8,bytes32,bytes32",
            "address,address,uint256,uint256,bytes",
            "address,address,uint256,uint256,bool,uint8,bytes32,bytes32",
            "address,((address,uint160,uint48,uint48),address,uint256),bytes",
        )
    },
    Function(f"permitTransferFrom({_PERMITTED},bytes)").selector: 6,
    Function(f"permitWitnessTransferFrom({_PERMITTED},bytes32,string,bytes)").selector: 6,
}
"""By selector: which of the arguments' words is the holder. ERC-3009, ERC-2612 and DAI's own, then those of Permit2."""


def find_permissions(frames: Iterable[Frame]) -> frozenset[tuple[str, str]]:
    """Return the holders whose signatures calls carry that did not revert, each with the contract that checks them.

    Who borrows that contract's code checks signatures by what he has stored himself.
    """
    return frozenset(
        (frame.recipient, read_holder(frame.calldata))
        for frame in frames
        if frame.kind == CALL and frame.calldata[:SELECTOR_BYTES] in _PERMISSIONS and not frame.is_undone
    )


def read_holder(calldata: bytes) -> str:
    """Return whose permission a call hands in; empty where it is another call."""
    place = _PERMISSIONS.get(calldata[:SELECTOR_BYTES])
    if place is None:
        return ""
    begin = SELECTOR_BYTES + place * WORD
    word = calldata[begin : begin + WORD]
    return "0x" + word[-20:].hex() if len(word) == WORD else ""


def is_authorization(calldata: bytes, holder: str) -> bool:
    """Whether a call is a token's own transfer by a holder's signature."""
    is_one = calldata[:SELECTOR_BYTES] in {each.selector for each in AUTHORIZATIONS}
    return is_one and read_holder(calldata) == holder
