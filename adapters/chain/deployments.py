"""Where protocols are deployed: ``adapters/data/deployments.json``, with its sources, and what chains describe."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from routing_engine.reference.chains import CHAINS

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)
_FILE = Path(__file__).parents[1] / "data" / "deployments.json"


@dataclass(frozen=True, slots=True)
class Facts:
    """One deployment of one protocol; see the file for what is known of each."""

    record: Mapping[str, Any]

    def get_text(self, field: str) -> str:
        """Return a string."""
        return str(self.record[field])

    def get_address(self, field: str) -> str:
        """Return an address in lower case."""
        return str(self.record[field]).lower()

    def get_addresses(self, field: str) -> tuple[str, ...]:
        """Return addresses in lower case."""
        return tuple(str(address).lower() for address in self.record[field])

    def get_texts(self, field: str) -> tuple[str, ...]:
        """Return strings."""
        return tuple(str(text) for text in self.record[field])

    def get_number(self, field: str) -> int:
        """Return an integer."""
        return int(self.record[field])


def read_deployments(protocol: str, chain_id: int) -> Iterator[Facts]:
    """Return each deployment of a protocol and its forks on a chain."""
    return (Facts(record) for record in _read_all().get(protocol, ()) if record["chain_id"] == chain_id)


def find_contracts(chain_id: int) -> frozenset[str]:
    """Return every contract that the file names on a chain, in lower case."""
    records = (record for each in _read_all().values() for record in each if record["chain_id"] == chain_id)
    values = (value for record in records for value in record.values())
    texts = (text for value in values for text in (value if isinstance(value, list | tuple) else [value]))
    return frozenset(text.lower() for text in texts if isinstance(text, str) and _ADDRESS.fullmatch(text))


@cache
def _read_all() -> Mapping[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = json.loads(_FILE.read_text(encoding="utf-8"))
    for chain in CHAINS.values():
        for protocol, records in chain.deployments.items():
            found[protocol] = [*found.get(protocol, ()), *records]
    return found
