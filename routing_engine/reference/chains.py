"""The chains of this process: the five of ``data/chains.json``, and those of a file of the operator's.

`CHAINS` never changes once anything of it was read, so all parts of a process see the same chains. An operator's file
is added before that, with `add_chains`: the first thing that a process does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Any

from routing_engine.errors import BadChainsFile
from routing_engine.reference.chain import Chain, GasModel, NativeCurrency
from routing_engine.reference.chain_records import read_chains

__all__ = ["CHAINS", "Chain", "ChainTable", "GasModel", "NativeCurrency", "add_chains", "block_time_s", "bridge_facts"]

_SHIPPED = Path(__file__).parents[1] / "data" / "chains.json"


class ChainTable(Mapping[int, Chain]):
    """Chains by id; those of a file come first, and then those that were added.

    Parameters
    ----------
    path : Path
        The file; it is read at the first question.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        self._added: dict[int, Chain] = {}
        self._chains: Mapping[int, Chain] | None = None

    def __getitem__(self, chain_id: int) -> Chain:
        return self._table()[chain_id]

    def __iter__(self) -> Iterator[int]:
        return iter(self._table())

    def __len__(self) -> int:
        return len(self._table())

    @property
    def is_read(self) -> bool:
        """Whether something was read of it, so that nothing can be added any more."""
        return self._chains is not None

    def add(self, path: Path) -> None:
        """Add the chains of a file; the same file again changes nothing.

        Raises
        ------
        BadChainsFile
            If the file is wrong, describes a chain that the table has already, or comes after the first reading.
        """
        found = read_chains(path)
        shipped = {chain.chain_id for chain in read_chains(self._path)}
        with self._lock:
            known = self._added if self._chains is None else self._chains
            for number, chain in enumerate(found):
                if known.get(chain.chain_id) == chain:
                    continue
                where = f"chains[{number}].chain_id"
                if chain.chain_id in shipped or chain.chain_id in known:
                    raise BadChainsFile(str(path), where, f"{chain.chain_id} is described already; leave it out")
                if self._chains is not None:
                    message = f"{chain.chain_id} comes too late: add chains before anything else is done"
                    raise BadChainsFile(str(path), where, message)
                self._added[chain.chain_id] = chain

    def _table(self) -> Mapping[int, Chain]:
        if self._chains is None:
            with self._lock:
                if self._chains is None:
                    shipped = {chain.chain_id: chain for chain in read_chains(self._path)}
                    self._chains = MappingProxyType(shipped | self._added)
        return self._chains


CHAINS = ChainTable(_SHIPPED)
"""Chains by id."""


def add_chains(path: Path) -> None:
    """Add an operator's chains to `CHAINS`; see `ChainTable.add`."""
    CHAINS.add(path)


def bridge_facts(bridge: str) -> Mapping[int, Mapping[str, Any]]:
    """Return what a bridge needs to know of the chains that it serves, by chain id."""
    return {chain_id: chain.bridges[bridge] for chain_id, chain in CHAINS.items() if bridge in chain.bridges}


def block_time_s(chain_id: int) -> int:
    """Return the whole seconds that a transaction waits for its block; 0 on a chain that is not described."""
    chain = CHAINS.get(chain_id)
    return math.ceil(chain.block_time_s) if chain else 0
