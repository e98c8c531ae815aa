"""JSON-RPC nodes in memory, with every fault that endpoints have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eth_abi import decode, encode

from adapters.rpc.block import Block
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.multicall import AGGREGATE3

NOW = 1_800_000_000
SENSE = object()
"""Answer properly."""


class NodeError(Exception):
    """Answered as a JSON-RPC error."""

    def __init__(self, message: str, code: int = -32000) -> None:
        super().__init__(message)
        self.code = code


def block_hash(number: int, fork: str = "a") -> str:
    return "0x" + f"{fork}{number:x}".rjust(64, "0")


def at(number: int, fork: str = "a") -> Block:
    return Block(number=number, hash=block_hash(number, fork), timestamp=NOW, parent=block_hash(number - 1, fork))


class Node:
    """One node; set what it should do wrong.

    `contracts` maps addresses to functions from calldata to returned data, or None for a revert without a word;
    `program` runs code that is called without a contract. What is final has to be set; below `forked_at` its blocks
    are those of the fork `a`.
    """

    def __init__(self, chain_id: int = 1, head: int = 100, fork: str = "a") -> None:
        self.chain_id, self.head, self.fork = chain_id, head, fork
        self.timestamp = NOW
        self.final: int | None = None
        self.forked_at = 0
        self.contracts: dict[str, Callable[[bytes], bytes | None]] = {}
        self.logs: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.largest_batch: int | None = None
        self.most_calls: int | None = None
        self.gas: int | None = None
        self.widest: int | None = None
        self.program: Callable[[bytes], bytes] | None = None
        self.fault: Exception | None = None
        self.garbage: Any = SENSE

    def answer(self, body: Any) -> Any:
        """Answer a request or a batch."""
        if self.fault is not None:
            self.asked.append("")
            raise self.fault
        if self.garbage is not SENSE:
            self.asked.append("")
            return self.garbage
        if not isinstance(body, list):
            return self._one(body)
        if self.largest_batch is not None and len(body) > self.largest_batch:
            self.asked.append("too large a batch")
            return {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "batch too large"}}
        return [self._one(each) for each in reversed(body)]

    def _one(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(request["method"])
        try:
            return {"jsonrpc": "2.0", "id": request["id"], "result": self._result(request["method"], request["params"])}
        except NodeError as error:
            return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": error.code, "message": str(error)}}

    def _result(self, method: str, parameters: list[Any]) -> Any:
        if method == "eth_chainId":
            return hex(self.chain_id)
        if method == "eth_getBlockByNumber":
            return self._block(parameters[0])
        if method == "eth_call":
            return self._call(parameters[0])
        if method == "eth_getLogs":
            return self._logs(parameters[0])
        raise NodeError(f"the method {method} does not exist", -32601)

    def _block(self, which: str) -> dict[str, str] | None:
        if which == "finalized" and self.final is None:
            raise NodeError("unknown tag", -32602)
        number = {"latest": self.head, "finalized": self.final}[which] if which.isalpha() else int(which, 16)
        if number > self.head:
            return None
        timestamp = hex(self.timestamp - 12 * (self.head - number))
        fork = "a" if number < self.forked_at else self.fork
        hashes = {"hash": block_hash(number, fork), "parentHash": block_hash(number - 1, fork)}
        return {"number": hex(number), "timestamp": timestamp, **hashes}

    def _call(self, call: dict[str, str]) -> str:
        data = bytes.fromhex(call["data"][2:])
        if "to" not in call:
            if self.program is None:
                raise NodeError("missing field to", -32602)
            return "0x" + self.program(data).hex()
        if data[:4] != AGGREGATE3:
            found = self._contract(call["to"], data)
            if found is None:
                raise NodeError("execution reverted", 3)
            return "0x" + found.hex()
        (calls,) = decode(["(address,bool,bytes)[]"], data[4:])
        if self.most_calls is not None and len(calls) > self.most_calls:
            raise NodeError("out of gas")
        left = self.gas
        outcomes = []
        for to, _, inner in calls:
            if left is not None:
                left -= 1
            found = self._contract(to, inner) if left is None or left >= 0 else None
            outcomes.append((found is not None, found or b""))
        return "0x" + encode(["(bool,bytes)[]"], [outcomes]).hex()

    def _contract(self, to: str, data: bytes) -> bytes | None:
        contract = self.contracts.get(to)
        return contract(data) if contract else b""

    def _logs(self, wanted: dict[str, Any]) -> list[dict[str, Any]]:
        first, last = int(wanted["fromBlock"], 16), int(wanted["toBlock"], 16)
        if self.widest is not None and last - first + 1 > self.widest:
            raise NodeError("block range is too wide", -32602)
        return [log for log in self.logs if first <= int(log["blockNumber"], 16) <= last]


class Network:
    """Several nodes behind URLs, in place of `adapters.http.client.JsonClient`."""

    def __init__(self, **nodes: Node) -> None:
        self.nodes = nodes

    @property
    def urls(self) -> list[str]:
        return [f"https://{name}/" for name in self.nodes]

    def get(self, url: str, params: Any = None) -> Any:
        raise AssertionError("a chain is asked by POST only")

    def post(self, url: str, body: object) -> Any:
        return self.nodes[url.split("/")[2]].answer(body)


def pool_of(network: Network, **options: object) -> RpcPool:
    """Return a pool of the nodes' endpoints, of chain 1, whose clock stands and which never waits."""
    settings = {"clock": lambda: NOW, "sleep": lambda _: None, **options}
    return RpcPool(1, network.urls, client=network, **settings)
