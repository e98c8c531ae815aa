"""Tokens whose transfers do not move the amount they are asked to, so that no quote in them is exact.

A pool's arithmetic says what leaves the pool; of a token that takes a fee on transfers, less arrives. The balance of a
rebasing token changes without a transfer, so a pool's recorded reserves and its next ones differ by more than trades,
and a transfer counted in shares arrives some units short. Markets of either are left out unless a caller accepts them.
"""

from __future__ import annotations

from routing_engine.model import Token
from routing_engine.token_fields import Transfers

_REBASING = {
    (1, "0xae7ab96520de3a18e5e111b5eaab095312d7fe84"),  # stETH
    (1, "0x35fa164735182de50811e8e2e824cfb9b6118ac2"),  # eETH
    (1, "0xd46ba6d942050d489dbd938a2c909a5d5039a161"),  # AMPL
    (1, "0x798d1be841a82a273720ce31c822c61a67a601c3"),  # DIGG
    (1, "0x2a8e1e676ec238d8a992307b495b45b3feaa5e86"),  # OUSD
    (1, "0x856c4efb76c1d1ae02e20ceb03a2a6a08b0b8dc3"),  # OETH
    (8453, "0xdbfefd2e8460a6ee4955a68582f85708baea60a3"),  # superOETHb
    *((chain_id, "0x59d9356e565ab3a36dd77763fc0d87feaf85508c") for chain_id in (1, 10, 137, 8453, 42161)),  # USDM
}
_FEE_ON_TRANSFER = {
    (1, "0xa7de087329bfcda5639247f96140f9dabe3deed1"),  # STA
    (1, "0xa1afffe3f4d611d252010e3eaf6f4d77088b0cd7"),  # RFI
}


def transfers_of(token: Token) -> Transfers:
    """Return how a token's transfers behave: what its source says, or else what is known of its contract.

    The list is of well-known contracts and cannot be whole. Contracts that could take a fee but take none, as those of
    USDT and PAXG, are not on it.
    """
    where = (token.chain_id, token.address)
    if token.transfers is not Transfers.EXACT:
        return token.transfers
    if where in _REBASING:
        return Transfers.REBASING
    return Transfers.FEE_ON_TRANSFER if where in _FEE_ON_TRANSFER else Transfers.EXACT
