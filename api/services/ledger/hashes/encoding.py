"""What blocks are hashed as: byte strings, numbers and lists of them in RLP (yellow paper, appendix B).

It asks nobody what each value is, as the library for any structure does, and takes a tenth of its time. Strangers make
lists of tens of thousands of entries for a few dollars.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

STRING, LIST = 0x80, 0xC0
"""What the encodings of the two begin from."""
SHORT = 56
"""Bytes from which on the length itself is told in bytes."""
BYTE = 8


def encode_rlp(item: bytes | int | Sequence[Any]) -> bytes:
    """Return the encoding of a byte string, a number that is not negative, or a list of such."""
    if isinstance(item, int):
        return encode_rlp(item.to_bytes((item.bit_length() + BYTE - 1) // BYTE))
    if isinstance(item, bytes):
        return item if len(item) == 1 and item[0] < STRING else make_prefix(len(item), STRING) + item
    body = b"".join([encode_rlp(each) for each in item])
    return make_prefix(len(body), LIST) + body


def make_prefix(length: int, kind: int) -> bytes:
    """Return what stands before so many bytes of a string, or of a list's encoded entries."""
    if length < SHORT:
        return bytes([kind + length])
    told = length.to_bytes((length.bit_length() + BYTE - 1) // BYTE)
    return bytes([kind + SHORT - 1 + len(told)]) + told
