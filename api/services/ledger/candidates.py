"""Which transactions may have paid coin that no event tells of: their calldata names a vendor, or has a reference."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from api.domain.watched import Watched
from api.services.ledger.rpc_records import REFERENCE_BYTES, FullBlock

ADDRESS_BYTES = 20
PREFIXES = 2**16
"""Of two bytes: most places in calldata begin with none of the prefixes of what is looked for."""


class BytesSearch:
    """Looks for any of many strings of one length, in a pass whose length does not depend on how many there are.

    Parameters
    ----------
    wanted : collection of bytes
        Each of `width` bytes.
    width : int
        At least two.
    """

    def __init__(self, wanted: Collection[bytes], width: int) -> None:
        self._wanted, self._width = frozenset(wanted), width
        self._begins = np.zeros(PREFIXES, np.bool_)
        self._begins[[int.from_bytes(each[:2]) for each in self._wanted]] = True

    def is_named_in(self, text: object) -> bool:
        """Whether one of them stands anywhere in hex data; in what is none, it may be."""
        try:
            return self.has_any(bytes.fromhex(str(text)[2:]))
        except ValueError:
            return True

    def has_any(self, calldata: bytes) -> bool:
        """Whether one of them stands anywhere in the bytes."""
        return self.find_first(calldata) is not None

    def find_first(self, calldata: bytes) -> bytes | None:
        """Return whichever of them stands first in the bytes."""
        if len(calldata) < self._width or not self._wanted:
            return None
        octets = np.frombuffer(calldata, np.uint8)
        last = len(calldata) - self._width + 1
        prefixes = octets[:last].astype(np.uint16) << 8 | octets[1 : last + 1]
        places = np.flatnonzero(self._begins[prefixes]).tolist()
        found = (calldata[place : place + self._width] for place in places)
        return next((each for each in found if each in self._wanted), None)


def search_addresses(addresses: Collection[str]) -> BytesSearch:
    """Return the search for addresses in lower case."""
    return BytesSearch([bytes.fromhex(address[2:]) for address in addresses], ADDRESS_BYTES)


def search_references(references: Collection[bytes]) -> BytesSearch:
    """Return the search for references."""
    return BytesSearch(references, REFERENCE_BYTES)


def choose_paying_or_naming(blocks: Mapping[int, FullBlock], watched: Watched) -> dict[str, FullBlock]:
    """Return the transactions that may send coin to vendors, or back: they pay or name one, or have its reference.

    Who gets money back is never looked for by name: anybody's traffic may name him.
    """
    addresses, references = search_addresses(watched.recipients), search_references(watched.references)
    return {
        tx_hash: block
        for block in blocks.values()
        for tx_hash, record in block.records.items()
        if (str(record.get("to")).lower() in watched.recipients and record.get("value") not in (None, "0x0"))
        or addresses.is_named_in(record.get("input"))
        or references.is_named_in(record.get("input"))
    }
