"""CCTP v2 on local chains: contracts that stand for Circle's, and Circle itself, who attests and forwards."""

from __future__ import annotations

from typing import Any

from eth_abi import decode

from adapters.bridges.cctp.adapter import get_domain
from adapters.chain.deployments import read_deployments
from tests.support.chain import Chain
from tests.support.evm import Contract
from tests.support.main_net import MainNet, placed
from tests.support.vyper_source import compiled

BURNT = ["uint256", "bytes32", "uint32", "bytes32", "bytes32", "uint256", "bytes"]
"""What the burn's event has beside its topics."""


def deploy_circle(net: MainNet) -> None:
    """Put CCTP's contracts where they are on the main net."""
    (facts,) = read_deployments("cctp", net.chain.chain_id)
    for field in ("token_messenger", "message_transmitter"):
        placed(net.chain, facts.get_address(field), compiled("circle"), net.tokens["USDC"].address)


def burn_of(chain: Chain, tx_hash: str) -> tuple[bytes, int, tuple[Any, ...]]:
    """Return who burnt in a transaction, with what finality, and the event's other values."""
    (facts,) = read_deployments("cctp", chain.chain_id)
    receipt = chain.rpc("eth_getTransactionReceipt", tx_hash)
    (log,) = (row for row in receipt["logs"] if row["address"] == facts.get_address("token_messenger"))
    values = decode(BURNT, bytes.fromhex(log["data"][2:]))
    return bytes.fromhex(log["topics"][2][2:]), int(log["topics"][3], 16), values


def make_message(origin: MainNet, tx_hash: str, *, fee: int) -> bytes:
    """Return what Circle attests of a burn, of which it keeps a fee."""
    sender, finality, (amount, recipient, domain, messenger, caller, most, hook) = burn_of(origin.chain, tx_hash)
    token = bytes(12) + bytes.fromhex(origin.tokens["USDC"].address[2:])
    words = (token, recipient, _word(amount), sender, _word(most), _word(fee), _word(0))
    body = bytes.fromhex("00000001") + b"".join(words) + hook
    ends = (1).to_bytes(4) + get_domain(origin.chain.chain_id).to_bytes(4) + domain.to_bytes(4)
    return ends + bytes.fromhex(tx_hash[2:]) + messenger * 2 + caller + finality.to_bytes(4) * 2 + body


def forward(origin: MainNet, destination: MainNet, tx_hash: str, fee: int) -> str:
    """Do what Circle does for a burn that asks for it: attest it, and mint all but its fees; return that hash."""
    _, _, (_, _, domain, _, caller, most, hook) = burn_of(origin.chain, tx_hash)
    assert (domain, caller) == (get_domain(destination.chain.chain_id), bytes(32))
    assert hook[:32] == b"cctp-forward".ljust(32, b"\0"), "nobody asked Circle to mint"
    assert fee <= most
    message = make_message(origin, tx_hash, fee=fee)
    _transmitter(destination)("receiveMessage", message, bytes(65))
    return str(destination.chain.rpc("eth_getBlockByNumber", "latest", False)["transactions"][-1])


def _transmitter(net: MainNet) -> Contract:
    (facts,) = read_deployments("cctp", net.chain.chain_id)
    return net.chain.at(facts.get_address("message_transmitter"), compiled("circle")["abi"])


def _word(number: int) -> bytes:
    return number.to_bytes(32)
