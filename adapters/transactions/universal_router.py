"""Plans for Uniswap's Universal Router 2.0: commands that it runs in order (``Dispatcher``)."""

from __future__ import annotations

from dataclasses import dataclass

from eth_abi.abi import encode

from adapters.rpc.abi import Call, Function
from adapters.transactions.paths import SwapPath
from adapters.transactions.uniswap_v3 import encode_path

EXECUTE = Function("execute(bytes,bytes[],uint256)")
"""Commands, a byte each, what each of them is given, deadline; selector 3593564c."""
CALLER = "0x0000000000000000000000000000000000000001"
"""Stands for whoever calls the router, as a recipient."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command and its arguments, encoded."""

    number: int
    arguments: bytes


def execute(router: str, commands: tuple[Command, ...], deadline: int) -> Call:
    """Return the call that runs commands one after the other, or none of them."""
    numbers = bytes(command.number for command in commands)
    return EXECUTE(router, numbers, tuple(command.arguments for command in commands), deadline)


def swap_v3_exact_out(recipient: str, amount_out: int, most_in: int, path: SwapPath) -> Command:
    """Swap what the router holds, over pools of Uniswap v3."""
    types = ("address", "uint256", "uint256", "bytes", "bool")
    return Command(0x01, encode(types, (recipient, amount_out, most_in, encode_path(path), False)))


def swap_v2_exact_out(recipient: str, amount_out: int, most_in: int, path: SwapPath) -> Command:
    """Swap what the router holds, over pairs of Uniswap v2."""
    types = ("address", "uint256", "uint256", "address[]", "bool")
    return Command(0x09, encode(types, (recipient, amount_out, most_in, path.tokens, False)))


def sweep(token: str, recipient: str) -> Command:
    """Send what the router has left of a token; of the coin where its address is zero."""
    return Command(0x04, encode(("address", "address", "uint256"), (token, recipient, 0)))


def unwrap(recipient: str) -> Command:
    """Send what the router has left of the wrapped coin, as the coin."""
    return Command(0x0C, encode(("address", "uint256"), (recipient, 0)))
