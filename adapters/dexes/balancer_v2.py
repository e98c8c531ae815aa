"""Balancer v2: weighted and stable pools of the known factories, read from the vault and from the pools themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from adapters.chain.deployments import read_deployments
from adapters.chain.protocol import ChainProtocol, Pool, Refused, States, build_states, make_market_id
from adapters.chain.tokens import ChainTokens
from adapters.dexes.balancer_pools import PROTOCOL, PoolMarket, find_kind, make_stable, make_weighted
from adapters.dexes.balancer_rates import read_scales
from adapters.rpc.abi import Call, CallFailed, Event, Function, Log, LogFilter
from adapters.rpc.reading import Reading, ask_each, ask_logs

POOL_ID = Function("getPoolId()", "bytes32")
POOL_TOKENS = Function("getPoolTokens(bytes32)", "address[]", "uint256[]")
WEIGHTS = Function("getNormalizedWeights()", "uint256[]")
AMPLIFICATION = Function("getAmplificationParameter()", "uint256")
SWAP_FEE = Function("getSwapFeePercentage()", "uint256")
PAUSED = Function("getPausedState()", "bool")

POOL_CREATED = Event("PoolCreated(address indexed)")
SWAP = Event("Swap(bytes32 indexed,address indexed,address indexed,uint256,uint256)")
BALANCE_CHANGED = Event("PoolBalanceChanged(bytes32 indexed,address indexed,address[],int256[],uint256[])")
BALANCE_MANAGED = Event("PoolBalanceManaged(bytes32 indexed,address indexed,address indexed,int256,int256)")
FEE_CHANGED = Event("SwapFeePercentageChanged(uint256)")
PAUSED_CHANGED = Event("PausedStateChanged(bool)")

ADDRESS_DIGITS = 42
MOST_DECIMALS = 18


class BalancerV2(ChainProtocol[PoolMarket]):
    """The vault's pools.

    A pool's facts are its id, its kind, and the place of its own token, which is not among its tokens, or -1.

    Parameters
    ----------
    chain_id : int
        Where it is.
    vault : str
        Address.
    kinds : mapping of str to str
        Name in `balancer_pools.KINDS` by factory.
    """

    name = PROTOCOL
    creations = (POOL_CREATED.topic,)
    topics = tuple(e.topic for e in (SWAP, BALANCE_CHANGED, BALANCE_MANAGED, FEE_CHANGED, PAUSED_CHANGED))

    def __init__(self, chain_id: int, vault: str, kinds: Mapping[str, str]) -> None:
        self._chain_id, self._vault, self._kinds = chain_id, vault, kinds
        self.factories = tuple(kinds)

    def list_emitters(self, pool: Pool) -> tuple[str, ...]:
        """Return the vault and the pool."""
        return self._vault, pool.key

    def read_key(self, log: Log) -> str:
        """Return the pool: its own address, with which its id begins."""
        return log.topics[1][:ADDRESS_DIGITS] if log.address == self._vault and len(log.topics) > 1 else log.address

    def discover(self, tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Read which pools the factories have made, and which tokens those hold."""
        logs = yield from ask_logs([LogFilter(addresses=self.factories, topics=(self.creations,))])
        return (yield from self.find_created(logs, tokens))

    def find_created(self, logs: tuple[Log, ...], tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Read which tokens new pools hold: their event names the pool only."""
        made = {POOL_CREATED.decode(log)[0][0]: self._kinds[log.address] for log in logs}
        asked = yield from ask_each(made, lambda address: (POOL_ID(address),))
        ids = {
            address: call.decode_one(outcome) for address, ((call, outcome),) in asked.items() if not outcome.reverted
        }
        held = yield from ask_each(ids, lambda address: (POOL_TOKENS(self._vault, ids[address]),))
        pools = (
            _make_pool(address, ids[address], made[address], call.decode_one(outcome), tokens)
            for address, ((call, outcome),) in held.items()
        )
        return tuple(pool for pool in pools if pool is not None)

    def read(self, pools: tuple[Pool, ...]) -> Reading[States[PoolMarket]]:
        """Read balances, fees, weights or amplification, and rates."""
        answers = yield from ask_each(pools, self._make_calls)
        rates = {pool: find_kind(pool).rates for pool in pools if find_kind(pool).invariant}
        scales = yield from read_scales(rates)

        def build_state(pool: Pool) -> PoolMarket | Refused:
            (addresses, balances), (fee,), (last,), (paused,) = (
                call.decode(outcome) for call, outcome in answers[pool]
            )
            if paused:
                return Refused("paused")
            held = dict(zip(addresses, balances, strict=False))
            if not all(token.address in held for token in pool.tokens):
                raise CallFailed(f"{pool.key}: the vault names other tokens than before")
            own = tuple(held[token.address] for token in pool.tokens)
            identifier = make_market_id(self._chain_id, pool.key)
            if not find_kind(pool).invariant:
                return make_weighted(pool, identifier, own, fee, last)
            found = scales[pool]
            if isinstance(found, CallFailed):
                raise found
            return make_stable(pool, identifier, own, fee, last, found)

        return build_states(pools, build_state)

    def apply(self, pool: Pool, state: PoolMarket, log: Log) -> None:
        """Have the pool read again: that is a few calls, and exact whatever happened."""

    def refresh(self, held: Mapping[str, tuple[Pool, PoolMarket]]) -> Reading[States[PoolMarket]]:
        """Read stable pools again: their rates and amplification move without events."""
        return self.read(tuple(pool for pool, _ in held.values() if find_kind(pool).invariant))

    def _make_calls(self, pool: Pool) -> tuple[Call, ...]:
        last = AMPLIFICATION if find_kind(pool).invariant else WEIGHTS
        tokens = POOL_TOKENS(self._vault, bytes.fromhex(str(pool.facts[0])[2:]))
        return tokens, SWAP_FEE(pool.key), last(pool.key), PAUSED(pool.key)


def _make_pool(
    address: str, identifier: bytes, kind: str, addresses: Sequence[str], tokens: ChainTokens
) -> Pool | None:
    """Return a pool whose tokens, but for its own, are all listed and not too fine for its arithmetic."""
    place = addresses.index(address) if address in addresses else -1
    found = tokens.find_all(each for each in addresses if each != address)
    if not found or max(token.decimals for token in found) > MOST_DECIMALS:
        return None
    return Pool(key=address, tokens=found, facts=("0x" + identifier.hex(), kind, place))


def find_deployments(chain_id: int) -> Iterator[BalancerV2]:
    """Return the vault with all its known factories."""
    found = list(read_deployments("balancer_v2", chain_id))
    kinds = {facts.get_address("factory"): facts.get_text("kind") for facts in found}
    if found:
        yield BalancerV2(chain_id, found[0].get_address("vault"), kinds)
