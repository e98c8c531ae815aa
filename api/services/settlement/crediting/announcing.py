"""Tell vendors of the transfers that reached them and belong to no order: once for each."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.events import EventType
from api.domain.payments import COUNTED, PaymentState
from api.domain.transfers import TransferKind
from api.services.routing.token_serializers import checksum
from api.services.settlement.crediting.observation import ChainObservation
from api.services.settlement.crediting.unmatched_views import describe_unmatched
from api.services.vendors.owned_addresses import Owner, find_owner
from api.services.webhooks.outbox import NewEvent, publish
from api.storage.tables import Payment

MOST_AT_ONCE = 500
"""Transfers that one look tells of; the next one tells of more."""


def announce_unmatched(session: Session, observation: ChainObservation, now: datetime) -> None:
    """Tell of what counts on its chain and belongs to nobody's order.

    What a bridge delivered waits until it is final: its deposit, on another chain, may say whose it is.
    """
    query = select(Payment).where(
        Payment.env_mode == observation.env_mode,
        Payment.chain_id == observation.chain_id,
        Payment.order_id.is_(None),
        ~Payment.is_announced,
        Payment.kind == TransferKind.PAYMENT,
        Payment.state.in_(COUNTED),
        or_(Payment.bridge_id == "", Payment.state == PaymentState.FINAL),
    )
    # Who holds one is assigning it, and may wait for an order that is locked here.
    for row in session.scalars(query.order_by(Payment.id).limit(MOST_AT_ONCE).with_for_update(skip_locked=True)):
        row.is_announced = True
        owner = find_owner(session, row.chain_id, row.recipient)
        if owner is not None and owner[1] == row.env_mode:
            publish(session, _make_event(session, row, owner, now))


def _make_event(session: Session, row: Payment, owner: Owner, now: datetime) -> NewEvent:
    """Make an event with the properties that events about orders have, and the transfer."""
    (described,) = describe_unmatched(session, owner, [row])
    described |= {name: checksum(described[name]) for name in ("token", "from", "to") if described[name]}
    timestamp = format_time(row.mined_at)
    data = {
        "payment_order_id": "",
        "metadata": {},
        "transaction_hash": row.tx_hash,
        "payment_order_status": None,
        "status_reason": "",
        "transactions": [{"chain_id": row.chain_id, "hash": row.tx_hash, "timestamp": timestamp}],
        "transfer": described,
    }
    return NewEvent(
        vendor_id=owner[0],
        env_mode=EnvMode(row.env_mode),
        order_id=None,
        transfer_id=row.public_id,
        type=EventType.UNMATCHED,
        created_at=now,
        data=data,
    )
