"""What is known of a chain's pools at one block: immutable values, each made from the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from adapters.base import UNAVAILABLE, AdapterError
from adapters.chain.price_feeds import PriceBook, find_off_price
from adapters.chain.protocol import AnyProtocol, Pool, Refused, States
from adapters.chain.tokens import ChainTokens
from adapters.rpc.block import Block
from routing_engine.errors import InvalidMarket
from routing_engine.market import Market

REMEMBERED = 256
"""Steps by which a reorganised chain can be followed back."""


@dataclass(frozen=True, slots=True)
class Holding:
    """One protocol's pools.

    Parameters
    ----------
    pools : mapping of str to Pool
        All that were found, tradable or not, by key.
    states : mapping of str to object
        Of those that could be read.
    markets : mapping of str to Market
        Of those that can trade.
    refused : mapping of str to str
        Why a pool has no state, or no market.
    """

    pools: Mapping[str, Pool] = field(default_factory=dict)
    states: Mapping[str, Any] = field(default_factory=dict)
    markets: Mapping[str, Market] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)

    def update(self, protocol: AnyProtocol, pools: Iterable[Pool], states: States[Any]) -> Holding:
        """Return the holding with further pools and the given states, whose markets are made."""
        known = {**self.pools, **{pool.key: pool for pool in pools}}
        kept, markets, refused = dict(self.states), dict(self.markets), dict(self.refused)
        for key, state in states.items():
            kept.pop(key, None)
            refused.pop(key, None)
            before = markets.pop(key, None)
            market = state if isinstance(state, Refused) else _make_market(protocol, known[key], state)
            if not isinstance(state, Refused):
                kept[key] = state
            if isinstance(market, Refused):
                refused[key] = market.reason
            elif market is not None:
                markets[key] = before if before == market else market
        return Holding(known, kept, markets, refused)


def _make_market(protocol: AnyProtocol, pool: Pool, state: Any) -> Market | Refused | None:
    try:
        return protocol.make_market(pool, state)
    except InvalidMarket as error:
        return Refused(f"invalid_{error.field}")


def is_possible(protocol: AnyProtocol, pool: Pool, state: Any) -> bool:
    """Whether a state makes a valid market, or none for now."""
    return not isinstance(_make_market(protocol, pool, state), Refused)


@dataclass(frozen=True, slots=True)
class Journal:
    """The blocks that were read at, and the pools that had changed since the one before.

    Parameters
    ----------
    steps : tuple of (Block, frozenset of (str, str))
        Oldest first; pools as (protocol, key).
    """

    steps: tuple[tuple[Block, frozenset[tuple[str, str]]], ...] = ()

    def add_step(self, block: Block, touched: Iterable[tuple[str, str]]) -> Journal:
        """Return the journal with one more step."""
        return Journal((*self.steps[1 - REMEMBERED :], (block, frozenset(touched))))

    def rewind(self, block: Block) -> tuple[Journal, frozenset[tuple[str, str]]]:
        """Return the journal as it was at a block, and the pools that were touched after it."""
        kept = tuple(step for step in self.steps if step[0].number <= block.number)
        undone: frozenset[tuple[str, str]] = frozenset().union(*(step[1] for step in self.steps[len(kept) :]))
        return Journal(kept), undone


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Everything known of a chain at `head`.

    Parameters
    ----------
    head : Block
        Where it was read.
    tokens : ChainTokens
        Those that agree with their contracts.
    notes : tuple of str
        What was found wrong with tokens.
    holdings : mapping of str to Holding
        By protocol; one that failed as a whole is missing.
    faults : mapping of str to str
        Why a protocol is missing.
    journal : Journal
        For following a reorganised chain back.
    since : int
        When everything was read anew, in seconds since 1970.
    retried : int
        When pools that had been refused were read again.
    book : PriceBook or None
        Dollar prices that pools are held against.
    quarantined : mapping of str to float
        Pools that are too far off, by market id, with the factor.
    """

    head: Block
    tokens: ChainTokens
    notes: tuple[str, ...] = ()
    holdings: Mapping[str, Holding] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    journal: Journal = Journal()
    since: int = 0
    retried: int = 0
    book: PriceBook | None = None
    quarantined: Mapping[str, float] = field(default_factory=dict)

    def collect_markets(self) -> dict[str, Market]:
        """Return all markets by id, less those in quarantine."""
        return {market.id: market for _, market in self._list_all() if market.id not in self.quarantined}

    def count_refused(self) -> Counter[str]:
        """Count the pools that are left out, by protocol and reason; a protocol that failed as a whole counts once."""
        reasons = Counter(
            f"{name}:{reason}" for name, holding in self.holdings.items() for reason in holding.refused.values()
        )
        reasons.update(f"{name}{UNAVAILABLE}" for name in self.faults)
        reasons.update(f"{name}:price_off" for name, market in self._list_all() if market.id in self.quarantined)
        return reasons

    def quarantine(self, book: PriceBook) -> Memory:
        """Return the memory with the pools in quarantine that are off a book's prices."""
        return replace(self, book=book, quarantined=find_off_price((market for _, market in self._list_all()), book))

    def _list_all(self) -> Iterator[tuple[str, Market]]:
        return ((name, market) for name, holding in self.holdings.items() for market in holding.markets.values())

    def add_results(self, results: Mapping[str, Holding | AdapterError]) -> Memory:
        """Return the memory with what each protocol's reading gave; faults of those that were not read stay."""
        holdings = {name: found for name, found in results.items() if isinstance(found, Holding)}
        faults = {name: fault for name, fault in self.faults.items() if name not in results}
        faults |= {name: str(found) for name, found in results.items() if not isinstance(found, Holding)}
        return replace(self, holdings=holdings, faults=faults)
