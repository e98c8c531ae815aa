"""Real chains behind the port that the simulated ones have: each through the endpoints that the operator configured."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from adapters.base import AdapterError
from adapters.bridges.events import find_event_readers
from adapters.http.client import HttpLimits
from adapters.rpc.endpoint_pool import RPC_LIMITS, RpcPool, make_rpc_client
from adapters.rpc.heads import MAX_HEAD_AGE_S
from api.domain.clock import Clock
from api.domain.confirmations import count_finality_blocks
from api.domain.env import EnvMode
from api.domain.ledger import ChainUnavailable, Doubt, EndpointState, Head, Place, Proof, Reading, Settlement
from api.domain.transfers import CanonicalBlock, Transfer, TransferKey
from api.domain.watched import Watched
from api.services.ledger.chain_reader import ChainReader
from api.services.ledger.doubts import DoubtSettler
from api.services.ledger.evidence.signatures import accepts_as_contract, recover_signer
from api.services.ledger.places import find_places
from api.services.ledger.proofs.proving import Prover
from api.services.ledger.trace_probe import TraceProbe
from api.services.ledger.witnesses import make_witnesses

QUIET_CHAIN_S = 10 * 365 * 24 * 3600
"""How old a test chain's newest block may be: many of them mine only when they are sent something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chain:
    """Who reads a chain, and who doubts what was read."""

    reader: ChainReader
    prover: Prover
    settler: DoubtSettler
    probe: TraceProbe
    endpoints: int

    @classmethod
    def of(cls, pool: RpcPool, *, is_rehearsal: bool, clock: Callable[[], float]) -> Self:
        """Put them together."""
        bridges = find_event_readers(pool.chain_id)
        reader = ChainReader(pool, bridges, is_rehearsal=is_rehearsal)
        witnesses = make_witnesses(pool, bridges, is_rehearsal=is_rehearsal)
        return cls(
            reader=reader,
            prover=Prover(pool.chain_id, witnesses, is_rehearsal=is_rehearsal, clock=clock),
            settler=DoubtSettler(pool.chain_id, reader, witnesses, bridges, is_rehearsal=is_rehearsal),
            probe=TraceProbe(reader, clock),
            endpoints=len(witnesses),
        )


class ChainLedger:
    """Chains that are asked over JSON-RPC.

    Parameters
    ----------
    pools : mapping of int to RpcPool
        Endpoints by chain; those that do not ask for the final block leave it to a depth.
    is_rehearsal : bool
        Whether they may be developers' chains, which take transactions that nobody signed.
    clock : callable
        Seconds.
    """

    span = 20
    is_simulated = False

    def __init__(
        self,
        pools: Mapping[int, RpcPool],
        *,
        is_rehearsal: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._pools = dict(pools)
        self._chains = {
            chain_id: _Chain.of(pool, is_rehearsal=is_rehearsal, clock=clock) for chain_id, pool in pools.items()
        }
        self._readers = {chain_id: chain.reader for chain_id, chain in self._chains.items()}
        self._heads: dict[int, Head] = {}

    @property
    def chain_ids(self) -> frozenset[int]:
        """The chains that endpoints are configured for."""
        return frozenset(self._readers)

    def read_head(self, chain_id: int) -> Head:
        """Return the newest block that an endpoint in step tells, and how far the chain is final."""
        head = self._heads[chain_id] = self._readers[chain_id].read_head()
        return head

    def list_still(self, reached: Mapping[int, int]) -> frozenset[int]:
        """Return none: what a chain holds is known once it was asked."""
        return frozenset()

    def count_requests(self, chain_id: int) -> int:
        """Return how many HTTP requests the endpoints of a chain were sent."""
        return self._pools[chain_id].requests

    def read_blocks(self, chain_id: int, numbers: Collection[int]) -> Mapping[int, CanonicalBlock]:
        """Return the canonical blocks with these numbers."""
        return self._readers[chain_id].read_blocks(numbers)

    def find_block_at(self, chain_id: int, moment: datetime) -> int:
        """Return the number of the first block mined at `moment` or later, at most the head's."""
        return self._readers[chain_id].find_block_at(moment, self._heads[chain_id].block.number)

    def accepts_signature(self, chain_id: int, account: str, digest: bytes, signature: bytes, number: int) -> bool:
        """Say whether an account has signed a digest, by its key or as its contract says, which most endpoints confirm.

        Only who is no contract, or has delegated itself, has a key: nobody is asked what it is.
        """
        if recover_signer(digest, signature) == account:
            return True
        majority = self._pools[chain_id].majority
        try:
            return majority.ask(lambda endpoint: accepts_as_contract(endpoint, account, digest, signature, number))
        except AdapterError as fault:
            raise ChainUnavailable(str(fault)) from fault

    def count_endpoints(self, chain_id: int) -> int:
        """Return how many endpoints are configured."""
        return self._chains[chain_id].endpoints

    def list_endpoints(self, chain_id: int) -> Sequence[EndpointState]:
        """Return how the endpoints fare."""
        return [
            EndpointState(
                host=each.host, answers=each.answers, in_step=each.in_step, is_of_chain=each.other_chain is None
            )
            for each in self._pools[chain_id].list_health()
        ]

    def can_trace(self, chain_id: int) -> bool | None:
        """Whether an endpoint traces transactions."""
        return self._chains[chain_id].probe.ask()

    def read(self, chain_id: int, first: int, last: int, watched: Watched) -> Reading:
        """Return what moved in these blocks."""
        return self._readers[chain_id].read(first, last, watched)

    def search(self, chain_id: int, first: int, last: int, watched: Watched) -> tuple[Transfer, ...]:
        """Return what events tell of transfers that matter."""
        return self._readers[chain_id].search(first, last, watched) if watched.payees else ()

    def settle(self, chain_id: int, doubts: Collection[Doubt], watched: Watched) -> Settlement:
        """Find out what doubtful blocks hold."""
        return self._chains[chain_id].settler.settle(doubts, watched)

    def forget_read(self, chain_id: int) -> None:
        """Read everything again that a doubt is about."""
        self._readers[chain_id].read_before.forget()

    def prove(self, chain_id: int, transfers: Collection[Transfer], watched: Watched) -> Mapping[TransferKey, Proof]:
        """Return how far each transfer is proven."""
        return self._chains[chain_id].prover.prove(transfers, watched)

    def find_places(self, chain_id: int, hashes: Collection[str], watched: Watched) -> Mapping[str, Place]:
        """Return where these transactions were mined."""
        return find_places(self._readers[chain_id], hashes, watched)


def connect_ledger(urls: Mapping[int, Sequence[str]], env_mode: EnvMode, clock: Clock) -> ChainLedger:
    """Return the ledger of the chains that endpoints are configured for."""
    return ChainLedger(
        connect_pools(urls, env_mode, clock),
        is_rehearsal=env_mode == EnvMode.TEST,
        clock=lambda: clock.now().timestamp(),
    )


def connect_pools(
    urls: Mapping[int, Sequence[str]], env_mode: EnvMode, clock: Clock, limits: HttpLimits = RPC_LIMITS
) -> dict[int, RpcPool]:
    """Return the endpoints of an environment's chains, of which a test chain may stand still.

    Parameters
    ----------
    limits : HttpLimits
        For each question to an endpoint.
    """
    oldest_s = QUIET_CHAIN_S if env_mode == EnvMode.TEST else MAX_HEAD_AGE_S
    return {
        chain_id: RpcPool(
            chain_id,
            each,
            client=make_rpc_client(limits),
            finality_blocks=count_finality_blocks(chain_id),
            max_head_age_s=oldest_s,
            clock=lambda: clock.now().timestamp(),
        )
        for chain_id, each in urls.items()
    }
