"""Another transfer at the same place: what a transaction did when it ran again, or what was a lie before.

A place holds one transfer. Whoever is found there instead ends the one before, and is somebody's by what speaks for it
alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from api.domain.ledger import Proof
from api.domain.transfers import Transfer, TransferKey, get_key, moves_the_same
from api.services.settlement.crediting.observation import ChainObservation
from api.storage.tables import Payment


def tells_the_same(row: Payment, transfer: Transfer) -> bool:
    """Whether a payment that was written down is this transfer, wherever it lies.

    Who paid is told better by one reading than by another one of the same block; that two know differently who paid in
    two blocks is no such thing.
    """
    written = row.token_address, row.recipient, row.amount
    if written != (transfer.token_address, transfer.recipient, transfer.amount):
        return False
    is_same_block = row.block_hash == transfer.block.hash
    return is_same_block or row.sender == transfer.sender or not row.sender or not transfer.sender


def takes_the_place(row: Payment, transfer: Transfer, proofs: Mapping[TransferKey, Proof]) -> bool:
    """Whether a transfer ends the payment that was written down at its place.

    What is proven of a block is believed, and not what somebody says of the same block since; what nothing speaks for
    gives way.
    """
    if tells_the_same(row, transfer):
        return False
    if row.block_hash != transfer.block.hash:
        return True
    proof = proofs.get(get_key(transfer))
    if proof is not None and proof.is_certain and proof.transfer is not None:
        return moves_the_same(proof.transfer, transfer)
    return not (row.has_receipt_proof or row.has_second_opinion)


def find_replaced(
    observation: ChainObservation, known: Mapping[TransferKey, Payment]
) -> tuple[Sequence[Transfer], frozenset[TransferKey]]:
    """Return the transfers that are believed, and the places at which one of them ends what was there."""
    pairs = [(transfer, known.get(get_key(transfer))) for transfer in observation.transfers]
    replaced = frozenset(
        get_key(transfer)
        for transfer, row in pairs
        if row is not None and takes_the_place(row, transfer, observation.proofs)
    )
    believed = [
        transfer
        for transfer, row in pairs
        if row is None or get_key(transfer) in replaced or tells_the_same(row, transfer)
    ]
    return believed, replaced
