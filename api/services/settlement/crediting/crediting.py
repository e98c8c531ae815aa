"""Turn what was seen on a chain into payments of orders: each transfer counts once, for one order or for none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy import ColumnElement, select
from sqlalchemy.exc import DataError
from sqlalchemy.orm import Session

from api.domain.confirmations import Confirmations
from api.domain.orders import StatusReason
from api.domain.payments import CHECKED, GONE, Evidence
from api.domain.transfers import TransferKey, get_key
from api.services.orders.money import NO_MONEY, load_money
from api.services.orders.refund_events import announce_refunds
from api.services.orders.store import lock_orders, record_status, settle
from api.services.settlement.claims.signed_claims import find_signed
from api.services.settlement.crediting.announcing import announce_unmatched
from api.services.settlement.crediting.checking import check_payment, lose_payment, move_payment
from api.services.settlement.crediting.deliveries import (
    align_deliveries,
    list_bridge_ids,
    load_bridged,
    pair_deliveries,
)
from api.services.settlement.crediting.intake import add_transfer, replace_payment
from api.services.settlement.crediting.matching import Match, match_transfers
from api.services.settlement.crediting.observation import Assessment, ChainObservation
from api.services.settlement.crediting.ownership import give
from api.services.settlement.crediting.replacing import find_replaced, tells_the_same
from api.services.settlement.crediting.revising import apply_revision, find_revisions
from api.storage.tables import Payment, PaymentOrder

log = structlog.get_logger(__name__)

DOUBT = timedelta(minutes=30)
"""How long past a deposit's deadline its delivery may still show up: in blocks that are read again."""


def credit(session: Session, observation: ChainObservation, confirmations: Confirmations, now: datetime) -> None:
    """Write what was seen, and bring every order that it concerns up to date.

    The caller holds the chain's cursor. A payment counts in a later look than the one that found it, so its block is
    always checked once more before anything is promised.
    """
    checked = _check_payments(session, observation)
    known = _load_known(session, observation)
    gone = frozenset(row.id for row in known.values() if row.state in GONE)
    # What belongs to nobody may be known better by now: by a trace that was not to be had before.
    believed, replaced = find_replaced(observation, known)
    fresh = [row for row in believed if get_key(row) in replaced or _is_nobodys(known.get(get_key(row)))]
    matches = match_transfers(session, observation.env_mode, fresh, observation.recipients)
    revisions = find_revisions(session, observation, checked)
    proven = [each.transfer for each in revisions]
    bridge_ids = list_bridge_ids((*checked, *known.values(), *observation.transfers, *proven))
    bridged = load_bridged(session, observation.env_mode, bridge_ids)
    signed = find_signed(session, observation.env_mode, observation.chain_id)
    overdue = _find_overdue(session, observation)
    concerned = {row.order_id for row in (*checked, *known.values(), *bridged, *overdue)} | set(signed.values())
    concerned |= {each.order_id for each in revisions} | {each.order_id for each in matches}
    orders = lock_orders(session, {order_id for order_id in concerned if order_id})
    assessment = Assessment(observation=observation, orders=orders, confirmations=confirmations, now=now)
    for revision in revisions:
        apply_revision(session, revision, assessment)
    deposits = pair_deliveries(bridged, assessment)
    arrived = {row.order_id for row in checked if check_payment(row, assessment, deposits.get(row.id))}
    _take_in(session, known, gone, replaced, matches, assessment)
    session.flush()
    align_deliveries(session, bridge_ids, assessment)
    # What was revised just now may be somebody else's than when he signed for it.
    if signed:
        signed = dict(signed.items() & find_signed(session, observation.env_mode, observation.chain_id).items())
    for row in _lock_payments(session, signed):
        give(row, orders.get(signed[row.id]), Evidence.SIGNATURE, now)
    for row in overdue:
        row.is_overdue, row.updated_at = True, now
    session.flush()
    settle_all(session, orders, arrived, now)
    announce_unmatched(session, observation, now)


def _take_in(
    session: Session,
    known: Mapping[TransferKey, Payment],
    gone: Collection[int],
    replaced: frozenset[TransferKey],
    matches: Sequence[Match],
    assessment: Assessment,
) -> None:
    """Write down what is new, and follow what was mined again or is known better.

    A transaction is in one block. What it moved in another one, and no more now that it ran again, it has not moved.

    Parameters
    ----------
    gone : collection of int
        Rows that were in no canonical block before this look.
    replaced : frozenset of (str, int)
        Places at which there is another transfer now.
    """
    observation, orders, now = assessment.observation, assessment.orders, assessment.now
    blocks = {transfer.tx_hash: transfer.block.hash for transfer in observation.transfers}
    for key, former in known.items():
        if key not in observation.seen and former.block_hash not in (None, blocks.get(former.tx_hash)):
            lose_payment(former, now)
    for transfer in observation.transfers:
        row = known.get(get_key(transfer))
        if row is not None and tells_the_same(row, transfer):
            move_payment(row, transfer, orders.get(row.order_id or ""), now, was_gone=row.id in gone)
    for key in replaced - {get_key(match.transfer) for match in matches}:
        lose_payment(known[key], now)  # by what is nobody's business here
    ended = set(replaced)
    for match in matches:
        order, row = orders.get(match.order_id or ""), known.get(get_key(match.transfer))
        if row is None:
            _keep(session, observation, match, order, now)
        elif get_key(match.transfer) in ended:
            ended.remove(get_key(match.transfer))  # who read it too may know more of it
            replace_payment(session, row, observation, match, order, now, was_gone=row.id in gone)
        elif row.kind == match.transfer.kind and match.evidence != Evidence.NONE:
            _learn(row, match, order, observation, now)


def _is_nobodys(row: Payment | None) -> bool:
    return row is None or row.order_id is None


def _keep(
    session: Session, observation: ChainObservation, match: Match, order: PaymentOrder | None, now: datetime
) -> None:
    """Write a transfer down; one that no table takes must never stop the reading of its chain."""
    try:
        with session.begin_nested():
            add_transfer(session, observation, match, order, now)
    except (DataError, OverflowError, ValueError) as fault:
        log.exception("transfer_not_kept", tx_hash=match.transfer.tx_hash, reason=type(fault).__name__)


def _learn(
    row: Payment, match: Match, order: PaymentOrder | None, observation: ChainObservation, now: datetime
) -> None:
    """Credit an order with a payment of which only now is known whose it was.

    Who agreed on what had moved did not agree on this: a second opinion has to name the order too.
    """
    transfer = match.transfer
    row.has_second_opinion = False
    row.sender, row.bridge_id = transfer.sender, transfer.bridge_id
    row.source_chain_id, row.source_tx_hash = transfer.source_chain_id, transfer.source_tx_hash
    row.is_rejected = row.is_rejected or observation.is_rejected(transfer)
    give(row, order, match.evidence, now)


def settle_all(
    session: Session, orders: Mapping[str, PaymentOrder], arrived: Collection[str | None], now: datetime
) -> None:
    """Bring locked orders up to date with all that moved for them.

    Parameters
    ----------
    arrived : collection of str
        Closed orders for which money has come just now: their vendor is told also where the reason stays the same.
    """
    money = load_money(session, orders)
    for order in orders.values():
        has_changed = settle(session, order, money.get(order.id, NO_MONEY), now, may_expire=False)
        if not has_changed and order.id in arrived and order.status_reason == StatusReason.PAID_AFTER_CLOSE:
            record_status(session, order, money[order.id], now)
        announce_refunds(session, order, money.get(order.id, NO_MONEY), now)


def _check_payments(session: Session, observation: ChainObservation) -> Sequence[Payment]:
    if not observation.checked:
        return ()
    is_checked: ColumnElement[bool] = Payment.block_number.in_(observation.canonical)
    if observation.ends_at is not None:
        is_checked |= Payment.block_number > observation.ends_at
    query = select(Payment).where(Payment.id.in_(observation.checked), Payment.state.in_(CHECKED), is_checked)
    return session.scalars(query.order_by(Payment.id).with_for_update(key_share=True)).all()


def _load_known(session: Session, observation: ChainObservation) -> Mapping[TransferKey, Payment]:
    hashes = {row.tx_hash for row in observation.transfers}
    if not hashes and not observation.vanished:
        return {}
    is_known: ColumnElement[bool] = Payment.tx_hash.in_(hashes)
    if len(observation.seen) > len(observation.transfers):  # a portion: its transactions may have thousands of others
        is_known &= Payment.log_index.in_({row.log_index for row in observation.transfers})
        is_known |= Payment.id.in_(observation.vanished)
    query = select(Payment).where(
        Payment.chain_id == observation.chain_id, Payment.env_mode == observation.env_mode, is_known
    )
    rows = session.scalars(query.order_by(Payment.id).with_for_update(key_share=True))
    return {(row.tx_hash, row.log_index): row for row in rows}


def _lock_payments(session: Session, ids: Collection[int]) -> Sequence[Payment]:
    if not ids:
        return ()
    query = select(Payment).where(Payment.id.in_(ids), Payment.order_id.is_(None))
    return session.scalars(query.order_by(Payment.id).with_for_update(key_share=True)).all()


def _find_overdue(session: Session, observation: ChainObservation) -> Sequence[Payment]:
    """Return the deposits whose delivery on this chain has become impossible: it has been read past their deadline."""
    if observation.reached_at is None:
        return ()
    is_paid_here = select(PaymentOrder.id).where(
        PaymentOrder.id == Payment.order_id, PaymentOrder.settlement_chain_id == observation.chain_id
    )
    query = select(Payment).where(
        Payment.fill_deadline < observation.reached_at - DOUBT,
        Payment.is_overdue.is_(False),
        Payment.env_mode == observation.env_mode,
        is_paid_here.exists(),  # not a join, which would begin with all orders of the chain
    )
    return session.scalars(query.order_by(Payment.id).with_for_update(key_share=True)).all()
