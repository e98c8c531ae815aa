"""Real chains behind the port that the simulated ones have: each through the endpoints that the operator configured."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import structlog

from adapters.rpc import MAX_HEAD_AGE_S, RpcPool
from api.domain.clock import Clock
from api.domain.env import EnvMode
from api.domain.ledger import Block, ChainUnavailable, Head, Transfer
from api.services.chain_ledger_bridges import bridges_on
from api.services.chain_ledger_reader import ChainReader

QUIET_CHAIN_S = 10 * 365 * 24 * 3600
"""How old a test chain's newest block may be: many of them mine only when they are sent something."""

log = structlog.get_logger(__name__)


class ChainLedger:
    """Chains that are asked over JSON-RPC.

    Parameters
    ----------
    pools : mapping of int to RpcPool
        Endpoints by chain; those that do not ask for the final block leave it to a depth.
    """

    span = 20

    def __init__(self, pools: Mapping[int, RpcPool]) -> None:
        self._readers = {chain_id: ChainReader(pool, bridges_on(chain_id)) for chain_id, pool in pools.items()}
        self._threads = ThreadPoolExecutor(max(1, len(pools)), thread_name_prefix="chain-heads")
        self._heads: dict[int, Head] = {}

    @property
    def chain_ids(self) -> frozenset[int]:
        """The chains that endpoints are configured for."""
        return frozenset(self._readers)

    def heads(self) -> Mapping[int, Head]:
        """Ask all chains at once, so that one that hangs does not hold up the others one by one."""
        found = self._threads.map(self._head, self._readers)
        self._heads = {chain_id: head for chain_id, head in zip(self._readers, found, strict=True) if head is not None}
        return self._heads

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

    def _head(self, chain_id: int) -> Head | None:
        try:
            return self._readers[chain_id].head()
        except ChainUnavailable as fault:
            log.warning("chain_unavailable", chain_id=chain_id, reason=str(fault))
            return None


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
