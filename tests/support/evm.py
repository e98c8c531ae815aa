"""Real contracts on an in-process EVM, called by name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pyrevm
from eth_abi import decode, encode
from eth_utils.abi import collapse_if_tuple, function_abi_to_4byte_selector

ACTOR = "0x00000000000000000000000000000000000a11ce"
"""Deploys, owns and trades everything."""

FOREVER = 2**255
"""A deadline that no block reaches."""


class Reverted(Exception):
    """The call reverted; the message holds the reason, where the contract gave one."""


@dataclass
class Evm:
    """One chain without blocks or fees."""

    engine: pyrevm.EVM = field(default_factory=pyrevm.EVM)

    def __post_init__(self) -> None:
        self.engine.set_balance(ACTOR, 2**200)

    def deploy(self, compiled: dict[str, Any], *arguments: Any) -> Contract:
        """Deploy a compiled contract with its constructor's arguments."""
        abi = compiled["abi"]
        inputs = next((entry["inputs"] for entry in abi if entry["type"] == "constructor"), [])
        code = bytes.fromhex(compiled["bytecode"].removeprefix("0x"))
        types = [collapse_if_tuple(item) for item in inputs]
        return self.at(self.engine.deploy(ACTOR, code + encode(types, arguments)), abi)

    def at(self, address: str, abi: list[dict[str, Any]]) -> Contract:
        """Return the contract that is deployed at `address`."""
        return Contract(
            self, address, {entry["name"]: _Function(entry) for entry in abi if entry["type"] == "function"}
        )

    def send(self, to: str, data: bytes, value: int = 0) -> bytes:
        """Run a transaction; its changes stay unless it reverts."""
        try:
            return self.engine.message_call(ACTOR, to, calldata=data, value=value)
        except RuntimeError as error:
            raise Reverted(_reason(str(error))) from None


@dataclass(frozen=True)
class Contract:
    """A deployed contract; ``contract("name", ...)`` calls one of its functions."""

    evm: Evm
    address: str
    functions: dict[str, _Function]

    def __call__(self, name: str, *arguments: Any, value: int = 0) -> Any:
        """Call a function: one result as itself, several as a tuple.

        Raises
        ------
        Reverted
            If the contract refuses.
        """
        function = self.functions[name]
        answer = self.evm.send(self.address, function.selector + encode(function.inputs, arguments), value)
        results = decode(function.outputs, answer)
        return results[0] if len(results) == 1 else results


class _Function:
    def __init__(self, entry: dict[str, Any]) -> None:
        self.selector = function_abi_to_4byte_selector(entry)
        self.inputs = [collapse_if_tuple(item) for item in entry["inputs"]]
        self.outputs = [collapse_if_tuple(item) for item in entry["outputs"]]


def _reason(message: str) -> str:
    """Decode ``Error(string)`` from the engine's message, or return that message."""
    found = re.search(r"output: 0x08c379a0([0-9a-f]+)", message)
    return decode(["string"], bytes.fromhex(found[1]))[0] if found else message
