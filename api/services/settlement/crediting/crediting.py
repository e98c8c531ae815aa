"""Turn what was seen on a chain into payments of orders: each transfer counts once, for one order or for none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy import select
from sqlalchemy.exc import DataError
from sqlalchemy.orm import Session

from api.domain.confirmations import Confirmations
from api.domain.orders import StatusReason, takes_payment
from api.domain.payments import CHECKED, COUNTED, Evidence, PaymentState
from api.domain.transfers import TransferKey, TransferKind, key_of
from api.services.orders.money import NO_MONEY, money_of
from api.services.orders.store import lock_all, record, settle, state_of
from api.services.settlement.claims.signed_claims import find_signed
from api.services.settlement.crediting.checking import check_payment, move_payment
from api.services.settlement.crediting.intake import add_transfer
from api.services.settlement.crediting.matching import Match, find_waiting_deliveries, match_transfers
from api.services.settlement.crediting.revising import apply_revision, find_revisions
from api.services.settlement.crediting.sighting import Sighting
from api.storage.tables import Payment, PaymentOrder

log = structlog.get_logger(__name__)

DOUBT = timedelta(minutes=30)
"""How long past a deposit's deadline its delivery may still show up: in blocks that are read again."""


def credit(session: Session, sighting: Sighting, confirmations: Confirmations, now: datetime) -> None:
    """Write what was seen, and bring every order that it concerns up to date.

    The caller holds the chain's cursor. A payment counts in a later look than the one that found it, so its block is
    always checked once more before anything is promised.
    """
    checked = _checked(session, sighting)
    known = _known(session, sighting)
    # What belongs to nobody may be known better by now: by a trace that was not to be had before.
    fresh = [row for row in sighting.transfers if key_of(row) not in known or known[key_of(row)].order_id is None]
    matches = match_transfers(session, sighting.env_mode, fresh, sighting.recipients, sighting.rejected)
    waiting = find_waiting_deliveries(session, sighting.env_mode, matches)
    signed = find_signed(session, sighting.env_mode, sighting.chain_id)
    overdue = _overdue(session, sighting)
    revisions = find_revisions(session, sighting, checked)
    concerned = {row.order_id for row in (*checked, *known.values(), *overdue)}
    concerned |= {each.order_id for each in revisions} | {each.order_id for each in matches} | set(signed.values())
    orders = lock_all(session, {order_id for order_id in concerned if order_id})
    for revision in revisions:
        revision.row.is_rejected = revision.row.is_rejected or revision.transfer.sender in sighting.rejected
        give(revision.row, apply_revision(session, revision, orders, now), Evidence.REFERENCE, now)
    arrived = {row.order_id for row in checked if check_payment(row, sighting, orders, confirmations, now)}
    _take_in(session, sighting, known, matches, orders, now)
    for row_id, deposit in waiting.items():
        _deliver(session.get_one(Payment, row_id), deposit, sighting, orders, now)
    for row in _lock_payments(session, signed):
        give(row, orders.get(signed[row.id]), Evidence.SIGNATURE, now)
        arrived |= {row.order_id} if row.is_after_close else set()
    for row in overdue:
        row.is_overdue, row.updated_at = True, now
    session.flush()
    settle_all(session, orders, arrived, now)


def _take_in(
    session: Session,
    sighting: Sighting,
    known: Mapping[TransferKey, Payment],
    matches: Sequence[Match],
    orders: Mapping[str, PaymentOrder],
    now: datetime,
) -> None:
    """Write down what is new, and follow what was mined again or is known better."""
    for transfer in sighting.transfers:
        if key_of(transfer) in known:
            move_payment(known[key_of(transfer)], transfer, now)
    for match in matches:
        order, row = orders.get(match.order_id or ""), known.get(key_of(match.transfer))
        if row is None:
            _keep(session, sighting, match, order, now)
        elif row.kind == match.transfer.kind and match.evidence != Evidence.NONE:
            _learn(row, match, order, sighting, now)


def _keep(session: Session, sighting: Sighting, match: Match, order: PaymentOrder | None, now: datetime) -> None:
    """Write a transfer down; one that no table takes must never stop the reading of its chain."""
    try:
        with session.begin_nested():
            add_transfer(session, sighting, match, order, now)
    except (DataError, OverflowError, ValueError) as fault:
        log.exception("transfer_not_kept", tx_hash=match.transfer.tx_hash, reason=type(fault).__name__)


def _learn(row: Payment, match: Match, order: PaymentOrder | None, sighting: Sighting, now: datetime) -> None:
    """Credit an order with a payment of which only now is known whose it was."""
    transfer = match.transfer
    row.sender, row.bridge_id = transfer.sender, transfer.bridge_id
    row.source_chain_id, row.source_tx_hash = transfer.source_chain_id, transfer.source_tx_hash
    row.is_rejected = row.is_rejected or match.is_rejected or transfer.sender in sighting.rejected
    give(row, order, match.evidence, now)


def _deliver(
    row: Payment, deposit: Match, sighting: Sighting, orders: Mapping[str, PaymentOrder], now: datetime
) -> None:
    """Credit an order with what was seen before the deposit that it answers."""
    row.source_chain_id, row.source_tx_hash = deposit.transfer.chain_id, deposit.transfer.tx_hash
    row.is_rejected = row.is_rejected or deposit.transfer.sender in sighting.rejected
    give(row, orders.get(deposit.order_id or ""), Evidence.BRIDGE, now)


def give(row: Payment, order: PaymentOrder | None, evidence: Evidence, now: datetime) -> None:
    """Credit an order with a payment that was seen before it was known to be the order's."""
    if order is None or (row.kind == TransferKind.PAYMENT and row.recipient != order.settlement_address):
        return
    row.order_id, row.claimed_order_id, row.unmatched_reason, row.updated_at = order.id, order.id, "", now
    row.evidence = evidence
    if evidence != Evidence.ASSIGNED and row.state in COUNTED:
        row.state, row.confirmations = PaymentState.SEEN, 0  # how much it waits for follows the order
    row.is_after_close = not takes_payment(state_of(order), row.mined_at)


def settle_all(
    session: Session, orders: Mapping[str, PaymentOrder], arrived: Collection[str | None], now: datetime
) -> None:
    """Bring locked orders up to date with all that moved for them.

    Parameters
    ----------
    arrived : collection of str
        Closed orders for which money has come just now: their vendor is told also where the reason stays the same.
    """
    money = money_of(session, orders)
    for order in orders.values():
        has_changed = settle(session, order, money.get(order.id, NO_MONEY), now, may_expire=False)
        if not has_changed and order.id in arrived and order.status_reason == StatusReason.PAID_AFTER_CLOSE:
            record(session, order, money[order.id], now)


def _checked(session: Session, sighting: Sighting) -> Sequence[Payment]:
    query = select(Payment).where(
        Payment.state.in_(CHECKED),
        Payment.chain_id == sighting.chain_id,
        Payment.env_mode == sighting.env_mode,
        Payment.block_number.in_(sighting.canonical),
    )
    return session.scalars(query.order_by(Payment.id).with_for_update()).all()


def _known(session: Session, sighting: Sighting) -> Mapping[TransferKey, Payment]:
    hashes = {row.tx_hash for row in sighting.transfers}
    query = select(Payment).where(
        Payment.chain_id == sighting.chain_id, Payment.env_mode == sighting.env_mode, Payment.tx_hash.in_(hashes)
    )
    rows = session.scalars(query.order_by(Payment.id).with_for_update()) if hashes else ()
    return {(row.tx_hash, row.log_index): row for row in rows}


def _lock_payments(session: Session, ids: Collection[int]) -> Sequence[Payment]:
    query = select(Payment).where(Payment.id.in_(ids), Payment.order_id.is_(None))
    return session.scalars(query.order_by(Payment.id).with_for_update()).all() if ids else ()


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
