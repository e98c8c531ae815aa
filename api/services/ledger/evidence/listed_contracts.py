"""Contracts that payments pass through: routers, bridges, what wraps the coin, and pools that named factories made.

Which they are, the installed builders of payments and readers of bridges' events say: what a customer is offered to
pay with and what is credited have one source.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from adapters.bridges.events import find_event_readers
from adapters.rpc.abi import WORD, Call, CallFailed, Log, Outcome, read_hex
from adapters.rpc.endpoint import Answer, Question
from adapters.rpc.single_endpoint import Asker
from adapters.transactions.decoding import find_intermediaries, find_paying_contracts
from adapters.transactions.intermediaries import FACTORY, PoolInterface, SharedVault, Told
from api.services.ledger.evidence.movements import find_wrapped_coin
from routing_engine.model import ZERO_ADDRESS

MOST_AT_ONCE = 64
"""Pools of one transaction that are asked about; nobody's payment goes through more."""
MOST_REMEMBERED = 10_000
REMEMBERED_S = 60.0
"""How long what an endpoint said is taken for granted: a lie, or an answer of a moment's trouble, ends with it."""
GAS = hex(1_000_000)
"""For each question: whoever wrote the contract that is asked should not keep a node busy."""

Claim = tuple[str, PoolInterface]
"""A contract, and what its event says that it is."""


@dataclass(frozen=True, kw_only=True)
class Listed:
    """The listed contracts that matter to a transaction.

    Parameters
    ----------
    contracts : frozenset of str
        All of them.
    passing : frozenset of str
        Those of them that keep nothing: what one spends, it was given before.
    pools : mapping of str to str
        First topic of the event that each pool writes when it swaps.
    vaults : mapping of str to SharedVault
        What holds the pools of an exchange, by its address.
    """

    contracts: frozenset[str] = frozenset()
    passing: frozenset[str] = frozenset()
    pools: Mapping[str, str] = field(default_factory=dict)
    vaults: Mapping[str, SharedVault] = field(default_factory=dict)

    def __contains__(self, address: str) -> bool:
        return address in self.contracts

    @cached_property
    def keepers(self) -> frozenset[str]:
        """What holds what is somebody's: pools, and what holds pools."""
        return frozenset((*self.pools, *self.vaults))

    @cached_property
    def owing(self) -> frozenset[str]:
        """All others: bridges and what wraps the coin, whose own code says whose it is that they pay out."""
        return self.contracts - self.passing - self.keepers


class ListedContracts:
    """What is listed on one chain; asks it about markets and remembers what it said for a while.

    Parameters
    ----------
    rpc : Asker
        Of the chain.
    clock : callable
        Seconds, never going back.
    """

    def __init__(self, rpc: Asker, clock: Callable[[], float] = time.monotonic) -> None:
        self._rpc, self._clock = rpc, clock
        self._fixed = _list_fixed(rpc.chain_id)
        self._owing = _list_owing(rpc.chain_id)
        self._named = find_intermediaries(rpc.chain_id)
        self._interfaces = tuple(dict.fromkeys(each.interface for each in self._named.factories))
        self._asks_contracts = any(isinstance(each, Call) for each in self._named.contracts)
        self._factories: frozenset[tuple[object, PoolInterface]] | None = None
        self._told: frozenset[str] = frozenset()
        self._pools: dict[Claim, bool] = {}
        self._asked_at = clock()

    def among(self, logs: Sequence[Log]) -> Listed:
        """Return the listed contracts, with the pools that say they swapped in a transaction with these logs.

        A contract may claim to be anything. It is a pool if a factory that a builder names says that it made it.

        Raises
        ------
        AdapterError
            If no endpoint answers.
        """
        claims = list(dict.fromkeys(self._find_claims(logs)))[:MOST_AT_ONCE]
        if not claims and not (self._asks_contracts and len(logs) > 1):
            return self._make_listed(frozenset(), {})
        if self._clock() - self._asked_at >= REMEMBERED_S:
            self._factories, self._asked_at = None, self._clock()
            self._pools.clear()
        factories = self._ask_factories()
        self._learn([each for each in claims if each not in self._pools], factories)
        return self._make_listed(
            self._told, {pool: face.swap_topic for pool, face in claims if self._pools.get((pool, face))}
        )

    def _make_listed(self, told: frozenset[str], pools: Mapping[str, str]) -> Listed:
        vaults = {each.address: each for each in self._named.vaults}
        named = frozenset(each for each in self._named.contracts if isinstance(each, str))
        passing = (named | told | frozenset(find_paying_contracts(self._rpc.chain_id))) - self._owing - vaults.keys()
        return Listed(contracts=self._fixed | told | pools.keys(), passing=passing, pools=pools, vaults=vaults)

    def _find_claims(self, logs: Sequence[Log]) -> Iterator[Claim]:
        for log in logs:
            for interface in self._interfaces:
                if log.topics[:1] == (interface.swap_topic,) and log.address not in self._fixed:
                    yield log.address, interface

    def _learn(self, claims: Sequence[Claim], factories: Collection[tuple[object, PoolInterface]]) -> None:
        if not claims:
            return
        said = iter(self._ask([ask(pool) for pool, interface in claims for ask in (FACTORY, *interface.keys)]))
        asked: dict[Claim, Call] = {}
        for claim in claims:
            interface = claim[1]
            factory, *keys = (next(said) for _ in (FACTORY, *interface.keys))
            if (factory, interface) in factories and None not in keys:
                asked[claim] = interface.lookup(str(factory), *keys)
        made = dict(zip(asked, self._ask(list(asked.values())), strict=True)) if asked else {}
        if len(self._pools) > MOST_REMEMBERED:
            self._pools.clear()
        self._pools |= {claim: made.get(claim) == claim[0] for claim in claims}

    def _ask_factories(self) -> frozenset[tuple[object, PoolInterface]]:
        """Return the factories that are named, and those that contracts are asked for; learn such contracts as well."""
        if self._factories is None:
            factories, contracts = self._named.factories, self._named.contracts
            asked = (*(each.address for each in factories), *contracts)
            calls = list(dict.fromkeys(each for each in asked if isinstance(each, Call)))
            told: dict[Told, object | None] = dict(zip(calls, self._ask(calls), strict=True)) if calls else {}
            known = ((told.get(each.address, each.address), each.interface) for each in factories)
            self._told = frozenset(str(told[each]) for each in contracts if told.get(each) not in (None, ZERO_ADDRESS))
            self._factories = frozenset(each for each in known if each[0] not in (None, ZERO_ADDRESS))
        return self._factories

    def _ask(self, calls: Sequence[Call]) -> list[object | None]:
        """Return each call's result; None where the contract has no such function."""
        questions: list[Question] = [
            ("eth_call", [{"to": call.to, "data": "0x" + call.data.hex(), "gas": GAS}, "latest"]) for call in calls
        ]

        def parse(answers: list[Answer]) -> list[object | None]:
            return [_read_result(call, answer) for call, answer in zip(calls, answers, strict=True)]

        return self._rpc.ask(questions, parse)


def _read_result(call: Call, answer: Answer) -> object | None:
    """Return a result of one word; whatever else was answered is none."""
    if not isinstance(answer, str) or len(answer) != 2 + 2 * WORD:
        return None
    word = read_hex(answer, "a call's result")
    try:
        result: object = call.decode_one(Outcome(word))
    except CallFailed:
        return None
    return result


@cache
def _list_fixed(chain_id: int) -> frozenset[str]:
    found = find_intermediaries(chain_id)
    named = (*(each for each in found.contracts if isinstance(each, str)), *(each.address for each in found.vaults))
    return frozenset((*named, *find_paying_contracts(chain_id), *_list_owing(chain_id)))


@cache
def _list_owing(chain_id: int) -> frozenset[str]:
    """Return bridges and what wraps the coin: what they pay out, their own code says whose it is."""
    bridges = (contract for bridge in find_event_readers(chain_id) for contract in bridge.contracts)
    return frozenset((*bridges, find_wrapped_coin(chain_id))) - {""}
