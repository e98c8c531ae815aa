"""Logs blooms: whether a block can hold an event at all (yellow paper, section 4.3.1, function M3:2048)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from eth_utils.crypto import keccak

BLOOM_BYTES = 256
BITS_PER_ITEM = 3
LOWEST_BITS = 2**11 - 1
KNOWN_ITEMS = 10_000
"""Of which the bits are kept: each block is asked for the same addresses and topics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSearch:
    """Events that are searched for: those that have an item of each group.

    Parameters
    ----------
    groups : tuple of frozenset of bytes
        Addresses of 20 bytes or topics of 32.
    """

    groups: tuple[frozenset[bytes], ...]

    def may_match(self, bloom: int) -> bool:
        """Whether a block with this bloom may hold such an event; False is certain."""
        return all(any(may_contain(bloom, item) for item in group) for group in self.groups)


def make_bloom(items: Iterable[bytes]) -> int:
    """Return the bloom of these addresses and topics, as a number of 2048 bits."""
    bloom = 0
    for item in items:
        bloom |= _find_bits(item)
    return bloom


def may_contain(bloom: int, item: bytes) -> bool:
    """Whether an address or a topic may be in a bloom; False is certain."""
    bits = _find_bits(item)
    return bloom & bits == bits


def search_of(*groups: Collection[str]) -> EventSearch:
    """Return the search for events with one of each group of addresses or topics, given in hexadecimal."""
    return EventSearch(groups=tuple(frozenset(bytes.fromhex(item[2:]) for item in group) for group in groups))


@lru_cache(maxsize=KNOWN_ITEMS)
def _find_bits(item: bytes) -> int:
    digest = keccak(item)
    bits = 0
    for place in range(0, 2 * BITS_PER_ITEM, 2):
        bits |= 1 << (int.from_bytes(digest[place : place + 2]) & LOWEST_BITS)
    return bits
