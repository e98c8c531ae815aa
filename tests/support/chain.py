"""A local chain with contracts on it, called like those of `tests.support.evm`, mined block by block on demand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

from eth_abi import decode, encode
from eth_utils.abi import collapse_if_tuple

from adapters.rpc.multicall import MULTICALL3
from tests.support.anvil import running_anvil
from tests.support.evm import ACTOR, Contract, Reverted, _Function
from tests.support.node_connection import NodeConnection
from tests.support.npm import ACROSS, artifact

GAS = 900_000_000


class Chain:
    """One anvil; every transaction is mined at once, in a block of its own, unless they are gathered in one.

    It has the methods of `tests.support.evm.Evm`, so what deploys contracts there deploys them here too.
    """

    def __init__(self, url: str, chain_id: int) -> None:
        self.url, self.chain_id = url, chain_id
        self._numbers = count(1)
        self._node = NodeConnection(url)
        self._is_gathering = False
        self.rpc("anvil_impersonateAccount", ACTOR)
        self.rpc("anvil_setBalance", ACTOR, hex(2**200))

    def rpc(self, method: str, *parameters: Any) -> Any:
        """Ask the node; raise `Reverted` for an error."""
        body = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": parameters}
        document = self._node.ask(body)
        if "error" in document:
            raise Reverted(str(document["error"]))
        return document["result"]

    @property
    def number(self) -> int:
        """Number of the newest block."""
        return int(self.rpc("eth_blockNumber"), 16)

    def now(self) -> float:
        """Timestamp of the newest block: blocks are mined faster than seconds pass."""
        return float(int(self.rpc("eth_getBlockByNumber", "latest", False)["timestamp"], 16))

    def mine(self, blocks: int = 1) -> None:
        """Mine what is waiting, or nothing."""
        self.rpc("anvil_mine", hex(blocks))

    @contextmanager
    def one_block(self) -> Iterator[None]:
        """Put all transactions within into one block."""
        self._is_gathering = True
        try:
            yield
        finally:
            self._is_gathering = False
            self.mine()

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Take back whatever happens within, unless a reorganisation has taken back the block before it."""
        before = self.rpc("evm_snapshot")
        try:
            yield
        finally:
            self.rpc("evm_revert", before)

    def deploy(self, compiled: dict[str, Any], *arguments: Any) -> Contract:
        """Deploy a compiled contract with its constructor's arguments."""
        abi = compiled["abi"]
        inputs = next((entry["inputs"] for entry in abi if entry["type"] == "constructor"), [])
        code = bytes.fromhex(compiled["bytecode"].removeprefix("0x"))
        data = code + encode([collapse_if_tuple(item) for item in inputs], arguments)
        receipt = self._mined({"from": ACTOR, "data": "0x" + data.hex(), "gas": hex(GAS)})
        return self.at(receipt["contractAddress"], abi)

    def at(self, address: str, abi: list[dict[str, Any]]) -> Contract:
        """Return the contract at `address`; views, and quotes that are undone, are called without a transaction."""
        functions = {entry["name"]: _Function(entry) for entry in abi if entry["type"] == "function"}
        views = {
            entry["name"]
            for entry in abi
            if entry["type"] == "function"
            and (
                entry.get("stateMutability") in ("view", "pure")
                or entry.get("constant") is True
                or entry["name"].startswith(("quote", "query"))
            )
        }
        return _Deployed(self, address, functions, frozenset(views))

    def send(self, to: str, data: bytes, value: int = 0) -> bytes:
        """Run a transaction and return what it returns."""
        answer = self.ask(to, data, value)
        transaction = {"from": ACTOR, "to": to, "data": "0x" + data.hex(), "value": hex(value), "gas": hex(GAS)}
        if self._is_gathering:
            self.rpc("eth_sendTransaction", transaction)
        elif int(self._mined(transaction)["status"], 16) != 1:
            raise Reverted(f"the transaction to {to} reverted in its block")
        return answer

    def ask(self, to: str, data: bytes, value: int = 0) -> bytes:
        """Return what a call would return, changing nothing."""
        question = {"from": ACTOR, "to": to, "data": "0x" + data.hex(), "value": hex(value)}
        return bytes.fromhex(self.rpc("eth_call", question, "latest")[2:])

    def set_code(self, address: str, code: bytes) -> None:
        """Put code at an address."""
        self.rpc("anvil_setCode", address, "0x" + code.hex())

    def code(self, address: str) -> bytes:
        """Return the code at an address."""
        return bytes.fromhex(self.rpc("eth_getCode", address, "latest")[2:])

    def _mined(self, transaction: dict[str, str]) -> dict[str, Any]:
        sent = self.rpc("eth_sendTransaction", transaction)
        self.mine()
        receipt: dict[str, Any] = self.rpc("eth_getTransactionReceipt", sent)
        return receipt


@dataclass(frozen=True)
class _Deployed(Contract):
    views: frozenset[str] = frozenset()

    def __call__(self, name: str, *arguments: Any, value: int = 0) -> Any:
        if name not in self.views:
            return super().__call__(name, *arguments, value=value)
        function = self.functions[name]
        results = decode(
            function.outputs, self.evm.ask(self.address, function.selector + encode(function.inputs, arguments))
        )
        return results[0] if len(results) == 1 else results


@contextmanager
def running_chain(chain_id: int) -> Iterator[Chain]:
    """Run a chain that mines when it is told, with Multicall3 where it is on every chain."""
    options = (
        "--no-mining",
        "--gas-limit",
        str(10**9),
        "--base-fee",
        "0",
        "--gas-price",
        "0",
        "--code-size-limit",
        "1000000",
    )
    with running_anvil(chain_id, *options) as url:
        chain = Chain(url, chain_id)
        multicall = chain.deploy(artifact(ACROSS, "dist/evm/artifacts/Multicall3.sol/Multicall3.json"))
        chain.set_code(MULTICALL3, chain.code(multicall.address))
        yield chain
