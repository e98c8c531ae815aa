"""Follow payments through confirmations: counted, final, lost, or mined again elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import structlog

from api.domain.confirmations import Confirmations
from api.domain.ledger import Proof
from api.domain.payments import COUNTED, PaymentState
from api.domain.transfers import Transfer
from api.services.orders.worth import estimate_dollars, is_notable, price_in_dollars
from api.services.settlement.claims.proofs import is_proven
from api.services.settlement.crediting.observation import ChainObservation
from api.storage.tables import Payment, PaymentOrder

log = structlog.get_logger(__name__)


def check_payment(
    row: Payment,
    observation: ChainObservation,
    orders: Mapping[str, PaymentOrder],
    confirmations: Confirmations,
    now: datetime,
) -> bool:
    """Count the blocks above a payment, or note that its own block is gone.

    Returns
    -------
    bool
        Whether this was the moment when money for a closed order counted that is worth a word.
    """
    number, order = row.block_number or 0, orders.get(row.order_id or "")
    row.updated_at = now
    if observation.canonical[number].hash != row.block_hash:
        _lose(row)
        return False
    row.confirmations = observation.confirmations(number)
    proof = observation.proofs.get((row.tx_hash, row.log_index), Proof())
    if proof.is_contradicted:
        row.state = PaymentState.DISPUTED if row.state == PaymentState.SEEN else row.state
        return False
    if row.state == PaymentState.DISPUTED and (proof.has_receipt_proof or proof.has_second_opinion):
        row.state = PaymentState.SEEN
    row.has_receipt_proof = row.has_receipt_proof or proof.has_receipt_proof
    row.has_second_opinion = row.has_second_opinion or proof.has_second_opinion
    dollars = _estimate_value(row, order)
    needed, is_final = confirmations.count_blocks(row.chain_id, dollars), number <= observation.head.final_number
    has_counted = row.state in COUNTED
    if row.state == PaymentState.DISPUTED:
        return False
    if is_proven(row, dollars, observation.endpoints, confirmations.doubted_above, is_final=is_final):
        if is_final:
            row.state = PaymentState.FINAL
        elif needed is not None and row.confirmations >= needed:
            row.state = PaymentState.CONFIRMED
    is_new = row.is_after_close and row.state in COUNTED and not has_counted
    return is_new and order is not None and is_notable(order, row)


def _lose(row: Payment) -> None:
    has_counted = row.state == PaymentState.CONFIRMED
    name = "payment_lost" if has_counted else "payment_reorged"
    log.warning(name, chain_id=row.chain_id, tx_hash=row.tx_hash, order_id=row.order_id)
    row.state = PaymentState.LOST if has_counted else PaymentState.REORGED
    _forget_block(row)
    row.block_number, row.block_hash = None, None


def _forget_block(row: Payment) -> None:
    """Forget what was shown of the block that a payment lay in."""
    row.confirmations, row.has_receipt_proof, row.has_second_opinion = 0, False, False


def _estimate_value(row: Payment, order: PaymentOrder | None) -> int | None:
    """Return what waits for confirmations, in whole dollars: the transfer or the price, whichever is more.

    None where the price of either token is nobody's to vouch for.
    """
    if order is None or not is_notable(order, row):
        return 0  # it changes nothing, and must not be waited for by anything
    transfer = estimate_dollars(row.chain_id, row.token_address, row.amount)
    if row.is_after_close:
        return transfer
    price = price_in_dollars(order)
    return None if transfer is None or price is None else max(transfer, price)


def move_payment(row: Payment, transfer: Transfer, now: datetime) -> None:
    """Follow a payment that was mined again, in another block."""
    if row.block_hash != transfer.block.hash:
        row.state, row.updated_at = PaymentState.SEEN, now
        _forget_block(row)
        row.block_number, row.block_hash = transfer.block.number, transfer.block.hash
        row.mined_at = transfer.block.mined_at
