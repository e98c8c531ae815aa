"""Contracts whose money is nobody's: routers, bridges, what wraps the coin, and markets that known factories made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from eth_utils.crypto import keccak

from adapters.bridges.events import find_event_readers
from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import WORD, Call, Function, Log, read_hex
from adapters.rpc.endpoint import Answer, Question
from adapters.rpc.single_endpoint import Asker
from adapters.transactions.decoding import find_paying_contracts
from api.services.ledger.evidence.movements import find_wrapped_coin

SWAP_OF_PAIR = "0x" + keccak(text="Swap(address,uint256,uint256,uint256,uint256,address)").hex()
"""Of Uniswap v2 and its forks."""
SWAP_OF_POOL = "0x" + keccak(text="Swap(address,address,int256,int256,uint160,uint128,int24)").hex()
"""Of Uniswap v3 and its forks."""
FACTORY, FACTORY_OF_PAIRS = Function("factory()", "address"), Function("factoryV2()", "address")
TOKENS = Function("token0()", "address"), Function("token1()", "address")
FEE = Function("fee()", "uint24")
PAIR, POOL = Function("getPair(address,address)", "address"), Function("getPool(address,address,uint24)", "address")
SWAP_PROXY = Function("swapProxy()", "address")
"""Of Across's periphery: what it swaps through."""

MOST_AT_ONCE = 64
"""Markets of one transaction that are asked about; nobody's payment goes through more."""
MOST_REMEMBERED = 10_000
GAS = hex(1_000_000)
"""For each question: whoever wrote the contract that is asked should not keep a node busy."""

FIELDS: Mapping[str, tuple[str, ...]] = {"uniswap_v4": ("manager", "permit2")}
"""Contracts that money passes through beside those that payments call and bridges are made of."""


class ListedContracts:
    """What is listed on one chain; asks it about markets and remembers what it said.

    Parameters
    ----------
    rpc : Asker
        Of the chain.
    """

    def __init__(self, rpc: Asker) -> None:
        self._rpc = rpc
        self._fixed = _deployed(rpc.chain_id)
        self._factories: frozenset[str] | None = None
        self._proxies: frozenset[str] = frozenset()
        self._markets: dict[str, bool] = {}

    def among(self, logs: Sequence[Log]) -> frozenset[str]:
        """Return the listed contracts, with the markets that say they swapped in a transaction with these logs.

        A contract may claim to be anything. It is a market if a factory that we know says that it made it.

        Raises
        ------
        AdapterError
            If no endpoint answers.
        """
        claims = [log.address for log in logs if log.topics[:1] in ((SWAP_OF_PAIR,), (SWAP_OF_POOL,))]
        markets = [each for each in dict.fromkeys(claims) if each not in self._fixed][:MOST_AT_ONCE]
        if not markets:
            return self._fixed
        self._learn([each for each in markets if each not in self._markets])
        return self._fixed | self._proxies | {each for each in markets if self._markets.get(each)}

    def _learn(self, markets: Sequence[str]) -> None:
        if not markets:
            return
        factories = self._known_factories()
        getters = (FACTORY, *TOKENS, FEE)
        answers = self._ask([getter(market) for market in markets for getter in getters])
        said = {market: answers[place * len(getters) :][: len(getters)] for place, market in enumerate(markets)}
        asked: dict[str, Call] = {}
        for market, (factory, token0, token1, fee) in said.items():
            if factory in factories and token0 is not None and token1 is not None:
                pair = PAIR(str(factory), token0, token1)
                asked[market] = pair if fee is None else POOL(str(factory), token0, token1, fee)
        made = dict(zip(asked, self._ask(list(asked.values())), strict=True)) if asked else {}
        if len(self._markets) > MOST_REMEMBERED:
            self._markets.clear()
        self._markets |= {market: made.get(market) == market for market in markets}

    def _known_factories(self) -> frozenset[str]:
        """Return the factories that are listed, and those that listed routers use."""
        if self._factories is None:
            chain_id = self._rpc.chain_id
            routers = list(_addresses(chain_id, {"uniswap_v2": ("router",), "uniswap_v3": ("router",)}))
            peripheries = list(_addresses(chain_id, {"across": ("periphery",)}))
            asked = [getter(router) for router in routers for getter in (FACTORY, FACTORY_OF_PAIRS)]
            found = self._ask([*asked, *(SWAP_PROXY(each) for each in peripheries)])
            told, proxies = found[: len(asked)], found[len(asked) :]
            fixed = _addresses(chain_id, {"uniswap_v2": ("factory",), "uniswap_v3": ("factory",)})
            self._proxies = frozenset(str(each) for each in proxies if each is not None)
            self._factories = frozenset(fixed) | {str(each) for each in told if each is not None}
        return self._factories

    def _ask(self, calls: Sequence[Call]) -> list[object | None]:
        """Return each call's result; None where the contract has no such function."""
        questions: list[Question] = [
            ("eth_call", [{"to": call.to, "data": "0x" + call.data.hex(), "gas": GAS}, "latest"]) for call in calls
        ]

        def parse(answers: list[Answer]) -> list[object | None]:
            return [_result(call, answer) for call, answer in zip(calls, answers, strict=True)]

        return self._rpc.ask(questions, parse)


def _result(call: Call, answer: Answer) -> object | None:
    """Return a result of one word; whatever else was answered is none."""
    if not isinstance(answer, str) or len(answer) != 2 + 2 * WORD:
        return None
    number = int.from_bytes(read_hex(answer, "a call's result"))
    if call.function.outputs == ("address",):
        return f"0x{number:040x}" if number < 2**160 else None
    return number if number < 2**24 else None


@cache
def _deployed(chain_id: int) -> frozenset[str]:
    bridges = (contract for bridge in find_event_readers(chain_id) for contract in bridge.contracts)
    found = frozenset(
        (*_addresses(chain_id, FIELDS), *find_paying_contracts(chain_id), *bridges, find_wrapped_coin(chain_id))
    )
    return found - {""}


def _addresses(chain_id: int, fields: Mapping[str, Iterable[str]]) -> Iterator[str]:
    for protocol, names in fields.items():
        for facts in read_deployments(protocol, chain_id):
            yield from (facts.get_address(name) for name in names if name in facts.record)
