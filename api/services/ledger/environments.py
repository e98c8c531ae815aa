"""Which chains stand behind each environment."""

from __future__ import annotations

from collections.abc import Mapping

from adapters.rpc.endpoint_pool import RpcPool
from api.context import Context
from api.domain.env import EnvMode
from api.domain.ledger import Ledger
from api.services.ledger.chain_ledger import pools
from api.services.simulator.ledger import SimulatedLedger


def ledgers(context: Context) -> Mapping[EnvMode, Ledger]:
    """Return the ledger of each environment that has one."""
    if not is_simulated(context, EnvMode.TEST):
        return context.ledgers
    return {EnvMode.TEST: SimulatedLedger(context.database, context.clock), **context.ledgers}


def groups(ledger: Ledger) -> tuple[tuple[int, ...], ...]:
    """Return a ledger's chains, those together that are looked at one after the other because none can hang."""
    chain_ids = tuple(sorted(ledger.chain_ids))
    return tuple((chain_id,) for chain_id in chain_ids) if ledger.is_remote else (chain_ids,)


def ledger_for(context: Context, env_mode: EnvMode) -> Ledger | None:
    """Return an environment's ledger, or None where no chain is connected."""
    return ledgers(context).get(env_mode)


def connected_chains(context: Context, env_mode: EnvMode) -> Mapping[int, RpcPool] | None:
    """Return the endpoints of an environment's chains, or None where they are simulated."""
    if is_simulated(context, env_mode):
        return None
    urls = context.config.market.rpc_urls if env_mode == EnvMode.LIVE else context.config.test_rpc_urls
    return pools(urls, env_mode, context.clock)


def is_simulated(context: Context, env_mode: EnvMode) -> bool:
    """Whether an environment's payments move on the simulated ledger: the test environment's, unless it has chains."""
    return env_mode == EnvMode.TEST and env_mode not in context.ledgers
