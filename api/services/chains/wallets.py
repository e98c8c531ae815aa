"""Whether an address belongs to the same wallet on two chains."""

from __future__ import annotations

from collections.abc import Mapping

from adapters.transactions.simulation import PaymentChain

DELEGATION = bytes.fromhex("ef0100")
"""What the code of an account begins with that has delegated itself (EIP-7702): its key still works on every chain."""


def is_same_wallet(chains: Mapping[int, PaymentChain], address: str, chain_id: int, other_id: int) -> bool:
    """Whether who acts at an address on one chain does so on the other: by its key, or as the same contract.

    A contract on one chain need not exist on another, and what is sent there would be lost. Where one of the two is not
    connected, the answer is no.

    Raises
    ------
    AdapterError
        If a chain does not answer.
    """
    if not {chain_id, other_id} <= chains.keys():
        return False
    here, there = (chains[each].read_code(address) for each in (chain_id, other_id))
    return _is_of_key(here) or here == there


def has_key(chains: Mapping[int, PaymentChain], address: str, chain_id: int) -> bool:
    """Whether an address acts by a key alone; False for a contract, and where the chain is not connected.

    Raises
    ------
    AdapterError
        If the chain does not answer.
    """
    return chain_id in chains and _is_of_key(chains[chain_id].read_code(address))


def _is_of_key(code: bytes) -> bool:
    return not code or code.startswith(DELEGATION)
