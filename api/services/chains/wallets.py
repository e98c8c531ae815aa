"""Whether an address belongs to the same wallet on two chains, and whether it takes what is sent to it."""

from __future__ import annotations

from collections.abc import Mapping

from adapters.rpc.abi import read_hex, read_quantity
from adapters.rpc.endpoint import Answer, Question, RpcRefused
from adapters.transactions.simulation import PaymentChain

DELEGATION = bytes.fromhex("ef0100")
"""What the code of an account begins with that has delegated itself (EIP-7702): its key still works on every chain."""
ROOT_BYTES = 32
TRANSACTIONS = "eth_getTransactionCount"
PLENTY = hex(2**128)
TRIAL_GAS = hex(10**6)
REVERTED = 3
"""The code of a call that its contract has refused; nodes that have no code for that say so in words."""


def is_same_wallet(chains: Mapping[int, PaymentChain], address: str, chain_id: int, other_id: int) -> bool:
    """Whether who acts at an address on one chain does so on the other: by its key, or as the same contract.

    A contract on one chain need not exist on another, and what is sent there would be lost. Nor need one of the same
    code have the same owners: anybody may have made a wallet of his own there first (ADR 127). Where one of the two is
    not connected, or a node does not say what the contract has stored, the answer is no.

    Raises
    ------
    AdapterError
        If a chain does not answer.
    """
    if not {chain_id, other_id} <= chains.keys():
        return False
    here, there = (chains[each].read_code(address) for each in (chain_id, other_id))
    if _is_of_key(here) or here != there:
        return _is_of_key(here)
    stored = {_read_storage_root(chains[each], address) for each in (chain_id, other_id)}
    return len(stored) == 1 and b"" not in stored


def has_key(chains: Mapping[int, PaymentChain], address: str, chain_id: int) -> bool:
    """Whether an address acts by a key alone; False for a contract, and where the chain is not connected.

    Raises
    ------
    AdapterError
        If the chain does not answer.
    """
    return chain_id in chains and _is_of_key(chains[chain_id].read_code(address))


def has_acted(chains: Mapping[int, PaymentChain], address: str, chain_id: int) -> bool:
    """Whether an address is somebody's for certain: it has code, or its key has sent something (ADR 136).

    Of a contract that has destroyed itself nothing is left, as of a key that was never used.

    Raises
    ------
    AdapterError
        If the chain does not answer.
    """
    chain = chains[chain_id]
    if chain.read_code(address):
        return True
    question: Question = (TRANSACTIONS, [address, "latest"])
    return chain.rpc.majority.ask(lambda endpoint: endpoint.ask([question], lambda told: _has_sent(told[0])))


def refuses_coin(chain: PaymentChain, sender: str, recipient: str, data: bytes) -> bool:
    """Whether an address refuses coin that comes with calldata, as contracts do that have `receive` alone.

    Whether the sender has the coin just now does not matter. False also where a node can't try it.

    Raises
    ------
    AdapterError
        If the chain does not answer.
    """
    call = {"from": sender, "to": recipient, "value": "0x1", "data": "0x" + data.hex(), "gas": TRIAL_GAS}
    answer = chain.rpc.ask([("eth_call", [call, "latest", {sender: {"balance": PLENTY}}])], lambda told: told[0])
    return isinstance(answer, RpcRefused) and (answer.number == REVERTED or "revert" in answer.said.lower())


def _has_sent(answer: Answer) -> bool:
    if isinstance(answer, RpcRefused):
        raise answer
    return read_quantity({TRANSACTIONS: answer}, TRANSACTIONS) > 0


def _read_storage_root(chain: PaymentChain, address: str) -> bytes:
    """Return the hash of all that a contract has stored, by most endpoints; empty where they do not say."""
    question: Question = ("eth_getProof", [address, [], "latest"])
    return chain.rpc.majority.ask(lambda endpoint: endpoint.ask([question], lambda told: _read_root(told[0])))


def _read_root(answer: Answer) -> bytes:
    if isinstance(answer, RpcRefused) or not isinstance(answer, Mapping):
        return b""
    return read_hex(answer.get("storageHash"), "storageHash", ROOT_BYTES)


def _is_of_key(code: bytes) -> bool:
    return not code or code.startswith(DELEGATION)
