"""Which transactions may have paid somebody coin that no event tells of: those whose calldata names an address."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from api.services.ledger.rpc_records import FullBlock

ADDRESS_BYTES = 20
PREFIXES = 2**16
"""Of two bytes: most places in calldata begin with none of the addresses' prefixes."""


class AddressSearch:
    """Looks for any of many addresses, in one pass whose length does not depend on how many there are.

    Parameters
    ----------
    addresses : collection of str
        In lower case.
    """

    def __init__(self, addresses: Collection[str]) -> None:
        self._wanted = frozenset(bytes.fromhex(address[2:]) for address in addresses)
        self._begins = np.zeros(PREFIXES, np.bool_)
        self._begins[[int.from_bytes(address[:2]) for address in self._wanted]] = True

    def is_named_in(self, text: object) -> bool:
        """Whether one of the addresses stands anywhere in hex data; in what is none, it may be."""
        try:
            return self.has_any(bytes.fromhex(str(text)[2:]))
        except ValueError:
            return True

    def has_any(self, calldata: bytes) -> bool:
        """Whether one of the addresses stands anywhere in the bytes."""
        if len(calldata) < ADDRESS_BYTES or not self._wanted:
            return False
        octets = np.frombuffer(calldata, np.uint8)
        last = len(calldata) - ADDRESS_BYTES + 1
        prefixes = octets[:last].astype(np.uint16) << 8 | octets[1 : last + 1]
        places = np.flatnonzero(self._begins[prefixes])
        return any(calldata[place : place + ADDRESS_BYTES] in self._wanted for place in places.tolist())


def choose_paying_or_naming(blocks: Mapping[int, FullBlock], wanted: frozenset[str]) -> dict[str, FullBlock]:
    """Return the transactions that send coin to one of the addresses, or name one: they may send coin within."""
    search = AddressSearch(wanted)
    return {
        tx_hash: block
        for block in blocks.values()
        for tx_hash, record in block.records.items()
        if (str(record.get("to")).lower() in wanted and record.get("value") not in (None, "0x0"))
        or search.is_named_in(record.get("input"))
    }
