"""The endpoints of a chain, each read by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.bridges.events import EventReader
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.single_endpoint import SingleEndpoint
from api.services.ledger.chain_reader import ChainReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """One endpoint, and a reader that asks nobody else."""

    endpoint: SingleEndpoint
    reader: ChainReader

    @property
    def host(self) -> str:
        """Who it is."""
        return self.endpoint.host

    @property
    def in_step(self) -> bool:
        """Whether its head was near that of the others."""
        return self.endpoint.in_step


def make_witnesses(pool: RpcPool, bridges: Sequence[EventReader], *, is_rehearsal: bool) -> tuple[Witness, ...]:
    """Return the endpoints of a chain."""
    readers = [(each, ChainReader(each, bridges, is_rehearsal=is_rehearsal)) for each in pool.list_singles()]
    return tuple(Witness(endpoint=endpoint, reader=reader) for endpoint, reader in readers)
