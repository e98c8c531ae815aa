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


def make_witnesses(pool: RpcPool, bridges: Sequence[EventReader]) -> tuple[Witness, ...]:
    """Return the endpoints of a chain."""
    return tuple(Witness(endpoint=each, reader=ChainReader(each, bridges)) for each in pool.list_singles())
