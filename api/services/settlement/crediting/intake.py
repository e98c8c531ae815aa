"""Write a new transfer down: for the order that it counts for, for nobody, or not at all."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import structlog
from sqlalchemy.orm import Session

from api.domain.ids import IdPrefix, make_id
from api.domain.payments import COUNTED, REPLACED, Evidence, PaymentState, Unmatched
from api.domain.transfers import DELIVERIES, TransferKind
from api.services.settlement.crediting.built_deposits import is_built
from api.services.settlement.crediting.checking import lose_payment
from api.services.settlement.crediting.matching import Match
from api.services.settlement.crediting.observation import ChainObservation
from api.services.settlement.crediting.ownership import comes_after_close, release
from api.storage.db import insert_new
from api.storage.tables import Payment, PaymentOrder

COPIED = (
    *("chain_id", "tx_hash", "log_index", "token_address", "amount", "sender", "recipient"),
    *("source_chain_id", "source_tx_hash", "bridge_id", "fill_deadline", "is_inner"),
)
"""What a payment has from its transfer as it is."""
UNKNOWN = {
    **dict.fromkeys(("has_receipt_proof", "has_second_opinion", "is_announced", "is_overdue"), False),
    "confirmations": 0,
}
"""What a payment has that nobody knows anything of."""

log = structlog.get_logger(__name__)


def add_transfer(
    session: Session, observation: ChainObservation, match: Match, order: PaymentOrder | None, now: datetime
) -> None:
    """Write a transfer down that was not known, if it is anybody's business here."""
    values = _describe(session, observation, match, order, now)
    if values is not None:
        insert_new(session, Payment, values)


def replace_payment(
    session: Session,
    row: Payment,
    observation: ChainObservation,
    match: Match,
    order: PaymentOrder | None,
    now: datetime,
    *,
    was_gone: bool,
) -> None:
    """Let a payment end, and write the transfer that lies at its place instead: under a name of its own.

    Parameters
    ----------
    was_gone : bool
        Whether its order has been without the one before; else the new one comes when that came.
    """
    log.warning("payment_replaced", chain_id=row.chain_id, tx_hash=row.tx_hash, order_id=row.order_id, state=row.state)
    former, was_after_close = row.order_id, row.is_after_close
    had_counted = row.state in COUNTED or row.state == PaymentState.LOST or row.unmatched_reason == REPLACED
    lose_payment(row, now)
    release(row, now)
    values = _describe(session, observation, match, order, now)
    if values is None:
        return
    for name, value in (values | UNKNOWN).items():
        setattr(row, name, value)
    row.public_id = make_id(IdPrefix.TRANSFER, now)
    if had_counted and row.order_id is not None:
        row.unmatched_reason = REPLACED
    if row.order_id is not None and row.order_id == former and not was_gone:
        row.is_after_close = was_after_close


def _describe(
    session: Session, observation: ChainObservation, match: Match, order: PaymentOrder | None, now: datetime
) -> dict[str, Any] | None:
    """Return what is written of a transfer; None where that is nothing."""
    transfer = match.transfer
    if not _is_kept(match, order):
        return None
    unmatched = _find_refusal(match, order)
    is_credited = order is not None and unmatched is None
    promise = transfer.promise
    values = {
        "kind": transfer.kind,
        "order_id": order.id if order is not None and is_credited else None,
        "claimed_order_id": order.id if order is not None else None,
        "unmatched_reason": unmatched or "",
        "evidence": match.evidence if is_credited else Evidence.NONE,
        "env_mode": observation.env_mode,
        "promised_chain_id": promise.chain_id if promise else None,
        "promised_token_address": promise.token_address if promise else None,
        "promised_recipient": promise.recipient if promise else None,
        "promised_amount": promise.amount if promise else None,
        "is_built": is_credited and is_built(session, order, transfer),
        "is_rejected": transfer.kind != TransferKind.REFUND and observation.is_rejected(transfer),
        "is_after_close": is_credited and comes_after_close(order, transfer.kind, transfer.block.mined_at),
        "refund_id": match.refund_id,
        "block_number": transfer.block.number,
        "block_hash": transfer.block.hash,
        "mined_at": transfer.block.mined_at,
        "state": PaymentState.SEEN,
        "seen_at": now,
        "updated_at": now,
    }
    if unmatched is not None and not transfer.bridge_id:  # what a bridge delivered is given to its deposit's order next
        log.warning("payment_unmatched", chain_id=transfer.chain_id, tx_hash=transfer.tx_hash, reason=unmatched)
    return values | {field: getattr(transfer, field) for field in COPIED}


def _is_kept(match: Match, order: PaymentOrder | None) -> bool:
    """Whether a transfer is anybody's business here.

    A payment is: what means nothing was left out before. A deposit is only if it counts for an order and is to be
    delivered to that order's merchant; what a bridge delivered elsewhere is kept until its deposit is known.
    """
    transfer = match.transfer
    if transfer.kind == TransferKind.DEPOSIT:
        promise = transfer.promise
        is_ours = promise is None or (order is not None and promise.recipient == order.settlement_address)
        return order is not None and match.evidence != Evidence.NONE and is_ours
    return transfer.kind in DELIVERIES or order is not None


def _find_refusal(match: Match, order: PaymentOrder | None) -> Unmatched | None:
    """Say why a transfer does not count for the order that it names, or None if it does."""
    transfer = match.transfer
    if order is None:
        return Unmatched.NO_ORDER
    if match.evidence == Evidence.NONE:
        return Unmatched.OTHER_PAYER
    if transfer.kind == TransferKind.PAYMENT and transfer.recipient != order.settlement_address:
        return Unmatched.OTHER_RECIPIENT
    return None
