"""Chains in memory whose contracts answer what a test says, for protocols whose bytecode nobody publishes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eth_abi import decode, encode
from eth_abi.grammar import parse

from adapters.chain.adapter import OnChainAdapter
from adapters.chain.protocol import AnyProtocol
from adapters.chain.tokens import DECIMALS, ChainTokens
from adapters.rpc.abi import Call, Event, Function
from adapters.rpc.endpoint_pool import RpcPool
from routing_engine.model import Token
from tests.support.capture import Counting
from tests.support.nodes import Network, Node, block_hash


def address(number: int) -> str:
    """Return a contract's address."""
    return f"0x{number:040x}"


def token(number: int, decimals: int = 18, chain_id: int = 1) -> Token:
    """Return a token; those of higher numbers come later in pools."""
    return Token(chain_id=chain_id, address=address(number), symbol=f"T{number}", decimals=decimals)


class Script(Node):
    """One chain; `on` says what a call returns, `emit` adds a block with an event."""

    def __init__(self, *tokens: Token, chain_id: int = 1) -> None:
        super().__init__(chain_id)
        self.tokens = tokens
        self._answers: dict[str, dict[bytes, Any]] = {}
        for each in tokens:
            if not each.is_native:
                self.on(DECIMALS(each.address), each.decimals)

    def on(self, call: Call, *values: object) -> None:
        """Let a call return values, of the function's own output types."""
        self._answer(call.to, call.data, encode(call.function.outputs, values))

    def refuse(self, call: Call) -> None:
        """Let a call revert."""
        self._answer(call.to, call.data, None)

    def default(self, function: Function, to: str, *values: object) -> None:
        """Let a contract answer all calls of a function that nothing else is said about."""
        self._answer(to, function.selector, encode(function.outputs, values))

    def handle(self, function: Function, to: str, handler: Callable[..., tuple[object, ...] | None]) -> None:
        """Let a contract compute its answers to a function from the arguments; None is a revert."""
        types = parse(function.signature[function.signature.index("(") :]).components

        def answered(data: bytes) -> bytes | None:
            values = handler(*decode([each.to_type_str() for each in types], data[4:]))
            return None if values is None else encode(function.outputs, values)

        self._answer(to, function.selector, answered)

    def _answer(self, to: str, data: bytes, answer: Any) -> None:
        answers = self._answers.setdefault(to, {})
        answers[data] = answer

        def contract(asked: bytes) -> bytes | None:
            found = answers.get(asked, answers.get(asked[:4]))
            return found(asked) if callable(found) else found

        self.contracts[to] = contract

    def emit(self, event: Event, emitter: str, indexed: list[Any], values: list[Any]) -> None:
        """Mine a block with an event; arguments in the order of topics, then of data."""
        self.mine()
        topics = [event.topic]
        topics += ["0x" + encode([kind], [value]).hex() for kind, value in zip(event.indexed, indexed, strict=True)]
        self.logs.append(
            {
                "address": emitter,
                "topics": topics,
                "data": "0x" + encode(event.data, values).hex(),
                "blockNumber": hex(self.head),
                "blockHash": block_hash(self.head),
                "logIndex": "0x0",
            }
        )

    def mine(self) -> None:
        """Mine an empty block."""
        self.head += 1
        self.timestamp += 12

    def _logs(self, wanted: dict[str, Any]) -> list[dict[str, Any]]:
        found = super()._logs(wanted)
        return [log for log in found if log["address"] in wanted["address"] and log["topics"][0] in wanted["topics"][0]]


def adapter_of(script: Script, *protocols: AnyProtocol) -> tuple[OnChainAdapter, Counting]:
    """Return an adapter on a script, and the counter of what it asks."""
    counting, network = Counting(), Network(node=script)
    rpc = RpcPool(script.chain_id, network.urls, client=network, clock=lambda: script.timestamp, sleep=lambda _: None)
    return OnChainAdapter(rpc, protocols, ChainTokens(script.tokens), wrap=counting), counting
