"""Real chains behind the port that the simulated ones have: each through the endpoints that the operator configured."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from adapters.rpc import MAX_HEAD_AGE_S, RpcPool
from api.domain.clock import Clock
from api.domain.env import EnvMode
from api.domain.ledger import Block, Head, Transfer
from api.services.chain_ledger_bridges import bridges_on
from api.services.chain_ledger_reader import ChainReader

QUIET_CHAIN_S = 10 * 365 * 24 * 3600
"""How old a test chain's newest block may be: many of them mine only when they are sent something."""


class ChainLedger:
    """Chains that are asked over JSON-RPC.

    Parameters
    ----------
    pools : mapping of int to RpcPool
        Endpoints by chain; those that do not ask for the final block leave it to a depth.
    """

    span = 20
    is_remote = True

    def __init__(self, pools: Mapping[int, RpcPool]) -> None:
        self._pools = dict(pools)
        self._readers = {chain_id: ChainReader(pool, bridges_on(chain_id)) for chain_id, pool in pools.items()}
        self._heads: dict[int, Head] = {}

    @property
    def chain_ids(self) -> frozenset[int]:
        """The chains that endpoints are configured for."""
        return frozenset(self._readers)

    def head(self, chain_id: int) -> Head:
        """Return the newest block that an endpoint in step tells, and how far the chain is final."""
        head = self._heads[chain_id] = self._readers[chain_id].head()
        return head

    def requests(self, chain_id: int) -> int:
        """Return how many HTTP requests the endpoints of a chain were sent."""
        return self._pools[chain_id].requests

    def blocks(self, chain_id: int, numbers: Collection[int]) -> Mapping[int, Block]:
        """Return the canonical blocks with these numbers."""
        return self._readers[chain_id].blocks(numbers)

    def block_at(self, chain_id: int, moment: datetime) -> int:
        """Return the number of the first block mined at `moment` or later, at most the head's."""
        return self._readers[chain_id].block_at(moment, self._heads[chain_id].block.number)

    def accepts_signature(self, chain_id: int, account: str, digest: bytes, signature: bytes, number: int) -> bool:
        """Say whether an account has signed a digest, by its key or as its contract says."""
        return self._readers[chain_id].accepts_signature(account, digest, signature, number)

    def transfers(self, chain_id: int, first: int, last: int, recipients: Collection[str]) -> tuple[Transfer, ...]:
        """Return what moved in these blocks; without recipients nothing is asked."""
        return self._readers[chain_id].transfers(first, last, recipients) if recipients else ()


def connect(urls: Mapping[int, Sequence[str]], env_mode: EnvMode, clock: Clock) -> ChainLedger:
    """Return the ledger of the chains that endpoints are configured for."""
    return ChainLedger(pools(urls, env_mode, clock))


def pools(urls: Mapping[int, Sequence[str]], env_mode: EnvMode, clock: Clock) -> dict[int, RpcPool]:
    """Return the endpoints of an environment's chains, of which a test chain may stand still."""
    oldest_s = QUIET_CHAIN_S if env_mode == EnvMode.TEST else MAX_HEAD_AGE_S
    return {
        chain_id: RpcPool(
            chain_id, each, asks_final=True, max_head_age_s=oldest_s, clock=lambda: clock.now().timestamp()
        )
        for chain_id, each in urls.items()
    }
