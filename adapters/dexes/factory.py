"""What protocols share whose pools a factory makes: it knows each by its tokens, and tells of new ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

from adapters.chain.protocol import ChainProtocol, Pool, State, collect_named
from adapters.chain.tokens import ChainTokens
from adapters.rpc.abi import Function, Log
from adapters.rpc.reading import Reading, ask
from routing_engine.model import ZERO_ADDRESS

PoolFacts: TypeAlias = tuple[int | str, ...]


class FactoryProtocol(ChainProtocol[State]):
    """One factory's pools.

    Parameters
    ----------
    name : str
        Of the protocol.
    chain_id : int
        Where it is.
    factory : str
        Address.
    """

    def __init__(self, name: str, chain_id: int, factory: str) -> None:
        self.name = name
        self.factories = (factory,)
        self.chain_id, self.factory = chain_id, factory

    def find_created(self, logs: tuple[Log, ...], tokens: ChainTokens) -> Reading[tuple[Pool, ...]]:
        """Read the event of `creations`."""

        def find_pool(log: Log) -> Pool | None:
            key, addresses, facts = self.read_created(log)
            found = tokens.find_all(addresses)
            return Pool(key=key, tokens=found, facts=facts) if found else None

        return collect_named(logs, find_pool)

    @abstractmethod
    def read_created(self, log: Log) -> tuple[str, Sequence[str], PoolFacts]:
        """Return key, tokens and facts of the pool that an event of `creations` tells of."""

    def ask_pools(
        self, getter: Function, tokens: ChainTokens, kinds: Sequence[tuple[tuple[object, ...], PoolFacts]]
    ) -> Reading[tuple[Pool, ...]]:
        """Ask the factory for the pools of every pair of listed tokens.

        Parameters
        ----------
        getter : Function
            The factory's, which gives a pool's address, or zero.
        tokens : ChainTokens
            The listed ones.
        kinds : sequence of pair of tuple
            What `getter` takes behind the tokens, and the facts of what it gives then.
        """
        wanted = [(pair, *kind) for pair in tokens.list_pairs() for kind in kinds]
        calls = [getter(self.factory, *(token.address for token in pair), *rest) for pair, rest, _ in wanted]
        outcomes = yield from ask(calls)
        addresses = [call.decode_one(outcome) for call, outcome in zip(calls, outcomes, strict=True)]
        return tuple(
            Pool(key=address, tokens=pair, facts=facts)
            for address, (pair, _, facts) in zip(addresses, wanted, strict=True)
            if address != ZERO_ADDRESS
        )
