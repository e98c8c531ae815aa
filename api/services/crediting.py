"""Turn what was seen on a chain into payments of orders: each transfer counts once, for one order or for none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.confirmations import Confirmations
from api.domain.currencies import DOLLAR_TOKENS
from api.domain.env import EnvMode
from api.domain.ledger import Block, Head, Proof, Transfer, TransferKey, TransferKind
from api.domain.money import ceil_whole
from api.domain.orders import OrderStatus, takes_payment
from api.services.claims import Claim, Key, claims_of, deliveries_waiting, is_worth_keeping, key_of, reported_since
from api.services.order_store import PaymentState, lock_all, payments_of, settle, state_of
from api.storage.db import insert_new
from api.storage.tables import Payment, PaymentOrder

log = structlog.get_logger(__name__)

DOUBT = timedelta(minutes=30)
"""How long past a deposit's deadline its delivery may still show up: in blocks that are read again."""

COPIED = (
    *("chain_id", "tx_hash", "log_index", "token_address", "amount", "sender", "recipient"),
    *("source_chain_id", "source_tx_hash", "bridge_id", "fill_deadline"),
)
"""What a payment has from its transfer as it is."""

CHECKED = frozenset({PaymentState.SEEN, PaymentState.CONFIRMED})
"""What a chain may still take back."""


class Unmatched(StrEnum):
    """Why a transfer belongs to no order."""

    NO_ORDER = "no_order"
    OTHER_RECIPIENT = "other_recipient"
    ORDER_CLOSED = "order_closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What one look at a chain has shown.

    Parameters
    ----------
    canonical : mapping of int to Block
        The blocks by which payments seen earlier are checked.
    transfers : tuple of Transfer
        Those of the blocks that were read; some may be known already.
    reached_at : datetime
        When the last block that has been read was mined.
    recipients : frozenset of str
        Where vendors receive.
    rejected : frozenset of str
        Senders from whom nothing is taken.
    proofs : mapping
        How far payments seen earlier are proven by now.
    """

    env_mode: EnvMode
    chain_id: int
    head: Head
    canonical: Mapping[int, Block]
    transfers: tuple[Transfer, ...]
    reached_at: datetime
    recipients: frozenset[str]
    rejected: frozenset[str] = frozenset()
    proofs: Mapping[TransferKey, Proof] = field(default_factory=dict)

    def confirmations(self, block_number: int) -> int:
        """Return how many blocks there are from this one to the head, both counted."""
        return self.head.block.number - block_number + 1


def credit(session: Session, sighting: Sighting, confirmations: Confirmations, now: datetime) -> None:
    """Write what was seen, and bring every order that it concerns up to date.

    The caller holds the chain's cursor. A payment counts in a later look than the one that found it, so its block is
    always checked once more before anything is promised.
    """
    checked = _checked(session, sighting)
    known = _known(session, sighting)
    fresh = [row for row in sighting.transfers if key_of(row) not in known]
    claims = claims_of(session, sighting.env_mode, fresh, sighting.recipients)
    waiting = deliveries_waiting(session, sighting.env_mode, claims)
    reported = reported_since(session, sighting.env_mode, sighting.chain_id)
    overdue = _overdue(session, sighting)
    concerned = {row.order_id for row in (*checked, *known.values(), *overdue)} | {each.order_id for each in claims}
    orders = lock_all(session, {order_id for order_id in (*concerned, *reported.values()) if order_id})
    for row in checked:
        _check(row, sighting, orders.get(row.order_id or ""), confirmations, now)
    for transfer in sighting.transfers:
        if key_of(transfer) in known:
            _move(known[key_of(transfer)], transfer, now)
    for claim in claims:
        _add(session, sighting, claim, orders.get(claim.order_id or ""), now)
    for row_id, deposit in waiting.items():
        _adopt(session.get_one(Payment, row_id), orders.get(deposit.order_id or ""), now, deposit.transfer)
    for row_id, order_id in reported.items():
        _adopt(session.get_one(Payment, row_id), orders.get(order_id), now)
    for row in overdue:
        row.is_overdue, row.updated_at = True, now
    session.flush()
    payments = payments_of(session, orders)
    for order in orders.values():
        settle(session, order, payments.get(order.id, ()), now)


def _checked(session: Session, sighting: Sighting) -> Sequence[Payment]:
    query = select(Payment).where(
        Payment.state.in_(CHECKED),
        Payment.chain_id == sighting.chain_id,
        Payment.env_mode == sighting.env_mode,
        Payment.block_number.in_(sighting.canonical),
    )
    return session.scalars(query.order_by(Payment.id).with_for_update()).all()


def _known(session: Session, sighting: Sighting) -> Mapping[Key, Payment]:
    hashes = {row.tx_hash for row in sighting.transfers}
    query = select(Payment).where(Payment.chain_id == sighting.chain_id, Payment.tx_hash.in_(hashes))
    rows = session.scalars(query.order_by(Payment.id).with_for_update()) if hashes else ()
    return {(row.tx_hash, row.log_index): row for row in rows}


def _overdue(session: Session, sighting: Sighting) -> Sequence[Payment]:
    """Return the deposits whose delivery on this chain has become impossible: it has been read past their deadline."""
    is_paid_here = select(PaymentOrder.id).where(
        PaymentOrder.id == Payment.order_id, PaymentOrder.settlement_chain_id == sighting.chain_id
    )
    query = select(Payment).where(
        Payment.fill_deadline < sighting.reached_at - DOUBT,
        Payment.is_overdue.is_(False),
        Payment.env_mode == sighting.env_mode,
        is_paid_here.exists(),  # not a join, which would begin with all orders of the chain
    )
    return session.scalars(query.order_by(Payment.id).with_for_update()).all()


def _check(
    row: Payment, sighting: Sighting, order: PaymentOrder | None, confirmations: Confirmations, now: datetime
) -> None:
    """Count the blocks above a payment, or note that its own block is gone."""
    number = row.block_number or 0
    row.updated_at = now
    if sighting.canonical[number].hash != row.block_hash:
        has_counted = row.state == PaymentState.CONFIRMED
        name = "payment_lost" if has_counted else "payment_reorged"
        log.warning(name, chain_id=row.chain_id, tx_hash=row.tx_hash, order_id=row.order_id)
        row.state = PaymentState.LOST if has_counted else PaymentState.REORGED
        row.block_number, row.block_hash, row.confirmations = None, None, 0
        return
    row.confirmations = sighting.confirmations(number)
    proof = sighting.proofs.get((row.tx_hash, row.log_index), Proof())
    if proof.is_contradicted:
        return
    row.has_receipt_proof |= proof.has_receipt_proof
    row.has_second_opinion |= proof.has_second_opinion
    if not (row.has_receipt_proof or row.has_second_opinion):
        return
    needed = confirmations.blocks(row.chain_id, None if order is None else _dollars(order))
    if number <= sighting.head.final_number:
        row.state = PaymentState.FINAL
    elif needed is not None and row.confirmations >= needed:
        row.state = PaymentState.CONFIRMED


def _dollars(order: PaymentOrder) -> int | None:
    """Return an order's value, rounded up; None for a token whose price nobody here vouches for."""
    if order.settlement_amount is None or order.settlement_token_symbol not in DOLLAR_TOKENS:
        return None
    return ceil_whole(order.settlement_amount, order.settlement_token_decimals or 0)


def _move(row: Payment, transfer: Transfer, now: datetime) -> None:
    """Follow a payment that was mined again, in another block."""
    if row.block_hash != transfer.block.hash:
        row.state, row.confirmations, row.updated_at = PaymentState.SEEN, 0, now
        row.block_number, row.block_hash = transfer.block.number, transfer.block.hash
        row.has_receipt_proof = row.has_second_opinion = False
        row.mined_at = transfer.block.mined_at


def _adopt(row: Payment, order: PaymentOrder | None, now: datetime, deposit: Transfer | None = None) -> None:
    """Give an order a payment that was seen before it was known to be the order's."""
    if order is None or row.recipient != order.settlement_address or not takes_payment(state_of(order), row.mined_at):
        return
    row.order_id, row.claimed_order_id, row.unmatched_reason, row.updated_at = order.id, order.id, "", now
    if deposit is not None:
        row.source_chain_id, row.source_tx_hash = deposit.chain_id, deposit.tx_hash


def _add(session: Session, sighting: Sighting, claim: Claim, order: PaymentOrder | None, now: datetime) -> None:
    transfer = claim.transfer
    unmatched = _refusal(transfer, order)
    if unmatched is not None and transfer.kind != TransferKind.PAYMENT:
        return  # what goes in and out of a bridge concerns nobody but its order
    if unmatched is not None and not is_worth_keeping(session, sighting.env_mode, claim):
        return
    values = {
        "kind": transfer.kind,
        "order_id": order.id if order is not None and unmatched is None else None,
        "claimed_order_id": order.id if order is not None else None,
        "unmatched_reason": unmatched or "",
        "env_mode": sighting.env_mode,
        "is_overdue": False,
        "is_rejected": transfer.kind != TransferKind.REFUND and transfer.sender in sighting.rejected,
        "block_number": transfer.block.number,
        "block_hash": transfer.block.hash,
        "mined_at": transfer.block.mined_at,
        "confirmations": 0,
        "state": PaymentState.SEEN,
        "seen_at": now,
        "updated_at": now,
    }
    insert_new(session, Payment, values | {field: getattr(transfer, field) for field in COPIED})
    if unmatched is not None:
        log.warning("payment_unmatched", chain_id=transfer.chain_id, tx_hash=transfer.tx_hash, reason=unmatched)


def _refusal(transfer: Transfer, order: PaymentOrder | None) -> Unmatched | None:
    """Say why a transfer does not count for the order that it claims, or None if it does."""
    if order is None:
        return Unmatched.NO_ORDER
    if transfer.kind == TransferKind.PAYMENT and transfer.recipient != order.settlement_address:
        return Unmatched.OTHER_RECIPIENT
    if transfer.kind == TransferKind.REFUND:
        return None
    if transfer.kind == TransferKind.BRIDGE_REFUND and order.status == OrderStatus.FAILED:
        return None
    if not takes_payment(state_of(order), transfer.block.mined_at):
        return Unmatched.ORDER_CLOSED
    return None
