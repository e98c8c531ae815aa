"""The root of the trie that holds a block's transactions, or its receipts: of one that is made once and never changed.

Every block that is read is hashed by this, so it makes each node once, which takes a tenth of the time that a trie
takes which grows by one value after the other (ADR 146).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from eth_utils.crypto import keccak

from api.services.ledger.hashes.encoding import encode_rlp

HASHED_FROM = 32
"""Bytes from which on a node stands in its parent as its hash; a shorter one stands there itself."""
EMPTY = "0x" + keccak(b"\x80").hex()
"""The root of nothing."""
NIBBLES = 16

Leaf = tuple[bytes, bytes]
"""The nibbles of a key, and its value."""


def compute_root(values: Iterable[bytes]) -> str:
    """Return the root of the trie that holds values by their places (yellow paper, appendix D)."""
    leaves = sorted((_split(encode_rlp(place)), value) for place, value in enumerate(values))
    return "0x" + keccak(encode_rlp(_make_node(leaves, 0))).hex() if leaves else EMPTY


def _split(key: bytes) -> bytes:
    """Return the nibbles of a key, a byte each."""
    return bytes(nibble for byte in key for nibble in (byte >> 4, byte & 15))


def _make_node(leaves: Sequence[Leaf], depth: int) -> list[Any]:
    """Return the node of ascending leaves whose keys are the same up to `depth`; no key begins another one."""
    first, last = leaves[0][0], leaves[-1][0]
    if len(leaves) == 1:
        return [_pack(first[depth:], is_leaf=True), leaves[0][1]]
    end = depth
    while first[end] == last[end]:
        end += 1
    if end > depth:
        return [_pack(first[depth:end], is_leaf=False), _refer(_make_node(leaves, end))]
    children: list[list[Leaf]] = [[] for _ in range(NIBBLES)]
    for leaf in leaves:
        children[leaf[0][depth]].append(leaf)
    return [*(_refer(_make_node(each, depth + 1)) if each else b"" for each in children), b""]


def _refer(node: list[Any]) -> Any:
    encoded = encode_rlp(node)
    return keccak(encoded) if len(encoded) >= HASHED_FROM else node


def _pack(nibbles: bytes, *, is_leaf: bool) -> bytes:
    """Return nibbles as bytes: the first says whether they end at a value, and whether they are odd (appendix C)."""
    flag = 2 * is_leaf + len(nibbles) % 2
    whole = bytes([flag]) + nibbles if len(nibbles) % 2 else bytes([flag, 0]) + nibbles
    return bytes(high << 4 | low for high, low in zip(whole[::2], whole[1::2], strict=True))
