"""Chains that strangers attack, and calls of a contract that does whatever it is told."""

from __future__ import annotations

from eth_abi import encode

from tests.support.evm import Contract

BASE, ETHEREUM = 8453, 1


def run(contract: Contract, *calls: tuple[str, int, bytes]) -> bytes:
    function = contract.functions["run"]
    return function.selector + encode(function.inputs, (calls,))
