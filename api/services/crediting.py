"""Turn what was seen on a chain into payments of orders: each transfer counts once, for one order or for none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.confirmations import Confirmations
from api.domain.currencies import DOLLAR_TOKENS
from api.domain.env import EnvMode
from api.domain.ledger import Block, Head, Transfer, TransferKind
from api.domain.money import ceil_whole
from api.domain.orders import OrderStatus, takes_payment
from api.services.order_store import PaymentState, lock_all, payments_of, settle, state_of
from api.storage.db import insert_new
from api.storage.tables import Payment, PaymentOrder

log = structlog.get_logger(__name__)

Key = tuple[str, int]


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
    """

    env_mode: EnvMode
    chain_id: int
    head: Head
    canonical: Mapping[int, Block]
    transfers: tuple[Transfer, ...]

    def confirmations(self, block_number: int) -> int:
        """Return how many blocks there are from this one to the head, both counted."""
        return self.head.block.number - block_number + 1


def credit(session: Session, sighting: Sighting, confirmations: Confirmations, now: datetime) -> None:
    """Write what was seen, and bring every order that it concerns up to date.

    The caller holds the chain's cursor. A payment becomes final in a later look than the one that found it, so its
    block is always checked once more before anything is promised.
    """
    checked = _checked(session, sighting)
    known = _known(session, sighting)
    fresh = [row for row in sighting.transfers if (row.tx_hash, row.log_index) not in known]
    claims = _claims(session, sighting.env_mode, fresh)
    concerned = {row.order_id for row in (*checked, *known.values()) if row.order_id} | set(claims.values())
    orders = lock_all(session, concerned)
    for row in checked:
        _check(row, sighting, orders.get(row.order_id or ""), confirmations, now)
    for transfer in sighting.transfers:
        if (transfer.tx_hash, transfer.log_index) in known:
            _move(known[transfer.tx_hash, transfer.log_index], transfer, now)
    for transfer in fresh:
        _add(session, sighting, transfer, orders.get(claims.get((transfer.tx_hash, transfer.log_index), "")), now)
    session.flush()
    payments = payments_of(session, concerned)
    for order in orders.values():
        settle(session, order, payments.get(order.id, ()), now)


def _checked(session: Session, sighting: Sighting) -> Sequence[Payment]:
    query = select(Payment).where(
        Payment.state == PaymentState.SEEN,
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


def _claims(session: Session, env_mode: EnvMode, transfers: Collection[Transfer]) -> Mapping[Key, str]:
    """Return which order each transfer is meant for: by its reference, or else by recipient, token and amount."""
    references = {row.reference for row in transfers if row.reference is not None}
    query = select(PaymentOrder.payment_reference, PaymentOrder.id).where(
        PaymentOrder.payment_reference.in_(references), PaymentOrder.env_mode == env_mode
    )
    by_reference = {row[0]: row[1] for row in session.execute(query)} if references else {}
    claims: dict[Key, str] = {}
    for transfer in transfers:
        if transfer.reference is not None:
            order_id = by_reference.get(transfer.reference)
        else:
            order_id = _only_order_waiting_for(session, env_mode, transfer)
            # Of two equal payments without a reference, the second is nobody's.
            order_id = None if order_id in claims.values() else order_id
        if order_id is not None:
            claims[transfer.tx_hash, transfer.log_index] = order_id
    return claims


def _only_order_waiting_for(session: Session, env_mode: EnvMode, transfer: Transfer) -> str | None:
    """Return the order that waits for just this amount of this token at this address, if there is exactly one."""
    query = select(PaymentOrder.id).where(
        PaymentOrder.settlement_chain_id == transfer.chain_id,
        PaymentOrder.settlement_address == transfer.recipient,
        PaymentOrder.settlement_token_address == transfer.token_address,
        PaymentOrder.env_mode == env_mode,
        PaymentOrder.status.in_([OrderStatus.CREATED, OrderStatus.PROCESSING]),
        PaymentOrder.amount_due == transfer.amount,
        PaymentOrder.created_at <= transfer.block.mined_at,
    )
    found = session.scalars(query.limit(2)).all()
    return found[0] if len(found) == 1 else None


def _check(
    row: Payment, sighting: Sighting, order: PaymentOrder | None, confirmations: Confirmations, now: datetime
) -> None:
    """Count the blocks above a payment, or note that its own block is gone."""
    number = row.block_number or 0
    if sighting.canonical[number].hash != row.block_hash:
        log.warning("payment_reorged", chain_id=row.chain_id, tx_hash=row.tx_hash, order_id=row.order_id)
        row.state, row.block_number, row.block_hash, row.confirmations = PaymentState.REORGED, None, None, 0
    else:
        row.confirmations = sighting.confirmations(number)
        needed = confirmations.blocks(row.chain_id, None if order is None else _dollars(order))
        if number <= sighting.head.final_number or (needed is not None and row.confirmations >= needed):
            row.state = PaymentState.FINAL
    row.updated_at = now


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
        row.mined_at = transfer.block.mined_at


def _add(session: Session, sighting: Sighting, transfer: Transfer, order: PaymentOrder | None, now: datetime) -> None:
    unmatched = _refusal(transfer, order)
    if unmatched is not None and transfer.kind != TransferKind.PAYMENT:
        return  # what goes in and out of a bridge concerns nobody but its order
    values = {
        "chain_id": transfer.chain_id,
        "tx_hash": transfer.tx_hash,
        "log_index": transfer.log_index,
        "kind": transfer.kind,
        "order_id": order.id if order is not None and unmatched is None else None,
        "claimed_order_id": order.id if order is not None else None,
        "unmatched_reason": unmatched or "",
        "env_mode": sighting.env_mode,
        "token_address": transfer.token_address,
        "amount": transfer.amount,
        "sender": transfer.sender,
        "recipient": transfer.recipient,
        "source_chain_id": transfer.source_chain_id,
        "source_tx_hash": transfer.source_tx_hash,
        "block_number": transfer.block.number,
        "block_hash": transfer.block.hash,
        "mined_at": transfer.block.mined_at,
        "confirmations": sighting.confirmations(transfer.block.number),
        "state": PaymentState.SEEN,
        "seen_at": now,
        "updated_at": now,
    }
    insert_new(session, Payment, values)
    if unmatched is not None:
        log.warning("payment_unmatched", chain_id=transfer.chain_id, tx_hash=transfer.tx_hash, reason=unmatched)


def _refusal(transfer: Transfer, order: PaymentOrder | None) -> Unmatched | None:
    """Say why a transfer does not count for the order that it claims, or None if it does."""
    if order is None:
        return Unmatched.NO_ORDER
    if transfer.kind == TransferKind.PAYMENT and transfer.recipient != order.settlement_address:
        return Unmatched.OTHER_RECIPIENT
    if not takes_payment(state_of(order), transfer.block.mined_at):
        return Unmatched.ORDER_CLOSED
    return None
