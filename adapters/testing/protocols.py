"""The conformance suite for protocols on chains, over contracts whose answers are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eth_abi.abi import encode

from adapters.base import AdapterError, BadPayload
from adapters.chain.protocol import AnyProtocol, Refused
from adapters.chain.tokens import ChainTokens
from adapters.rpc.abi import Call, Log, Outcome
from adapters.rpc.reading import Reply, Request, run
from adapters.testing.markets import check_market
from adapters.testing.probe import NotConforming
from routing_engine.errors import InvalidMarket
from routing_engine.market import Market
from routing_engine.model import Token

WORD = 32


class Contracts:
    """A chain's contracts: each call gives what is said of it, all others zeros; or every call reverts.

    Parameters
    ----------
    answers : mapping of Call to sequence of object
        The results, by call.
    is_away : bool
        Whether every call reverts.
    """

    def __init__(self, answers: Mapping[Call, Sequence[object]], *, is_away: bool = False) -> None:
        self._answers = {(call.to, call.data): values for call, values in answers.items()}
        self._is_away = is_away

    def answer(self, request: Request) -> Reply:
        """Answer one request; there are no logs."""
        if not all(isinstance(each, Call) for each in request.calls):
            raise NotConforming("these contracts run no programs: a scan needs a chain")
        calls = [each for each in request.calls if isinstance(each, Call)]
        return Reply(outcomes=tuple(map(self._answer, calls)), logs=tuple(() for _ in request.filters))

    def _answer(self, call: Call) -> Outcome:
        if self._is_away:
            return Outcome(b"", reverted=True)
        values = self._answers.get((call.to, call.data))
        outputs = call.function.outputs
        return Outcome(bytes(WORD * len(outputs)) if values is None else encode(outputs, values))


def check_protocol(
    protocol: AnyProtocol,
    answers: Mapping[Call, Sequence[object]],
    tokens: Iterable[Token],
    **market_options: Any,
) -> tuple[Market, ...]:
    """Check a protocol on contracts that answer so, and return its markets.

    It finds pools and repeats; its markets keep what `check_market` checks; contracts that revert, and events of its
    topics without data, lead to an `AdapterError`, an `InvalidMarket` or a refused pool, and to nothing else.

    Raises
    ------
    NotConforming
        If something does not hold.
    """
    listed, here, away = ChainTokens(tokens), Contracts(answers), Contracts({}, is_away=True)
    pools = run(protocol.discover(listed), here)
    _require(bool(pools), protocol, "finds no pool")
    _require(run(protocol.discover(listed), here) == pools, protocol, "finds other pools the second time")
    states = run(protocol.read(pools), here)
    _require(
        states.keys() == {pool.key for pool in pools}, protocol, "gives a state of other pools than it was asked for"
    )
    markets = []
    for pool in pools:
        state = states[pool.key]
        if isinstance(state, Refused):
            continue
        market = protocol.make_market(pool, state)
        if market is not None:
            _require(market.protocol == protocol.name, protocol, f"gives a market of {market.protocol}")
            check_market(market, **market_options)
            markets.append(market)
        _check_events(protocol, pool, state)
    try:
        lost = run(protocol.read(pools), away)
    except AdapterError:
        lost = {}
    _require(all(isinstance(each, Refused) for each in lost.values()), protocol, "reads contracts that revert")
    _require(bool(markets), protocol, "gives no market")
    return tuple(markets)


def _check_events(protocol: AnyProtocol, pool: Any, state: Any) -> None:
    """Check that events of a pool without data are refused, or lead to a state."""
    for topic in protocol.topics:
        log = Log(address=pool.key, topics=(topic,), data=b"", block_number=1, block_hash="0x" + "00" * WORD, index=0)
        try:
            protocol.apply(pool, state, log)
        except (BadPayload, InvalidMarket):
            continue
        except Exception as fault:
            raise NotConforming(f"{protocol.name}: {type(fault).__name__} for an event without data") from fault


def _require(condition: bool, protocol: AnyProtocol, message: str) -> None:
    if not condition:
        raise NotConforming(f"{protocol.name}: {message}")
