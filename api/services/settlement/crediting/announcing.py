"""Tell vendors of the transfers that reached them and belong to no order: once for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, or_, select
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
from api.storage.statements import Statement
from api.storage.tables import Payment

MOST_AT_ONCE = 100
"""Transfers that one transaction tells of; the next one tells of more."""


def announce_unmatched(session: Session, observation: ChainObservation, now: datetime) -> None:
    """Tell of what counts on its chain and belongs to nobody's order.

    What a bridge delivered waits until it is final: its deposit, on another chain, may say whose it is.
    """
    session.flush()
    untold = _UNTOLD.fetch(session, {"env_mode": observation.env_mode, "chain_id": observation.chain_id})
    if not untold:
        return
    query = select(Payment).where(Payment.id.in_([row.id for row in untold]), *_IS_UNTOLD)
    # Who holds one is assigning it, and may wait for an order that is locked here.
    reached: dict[str, list[Payment]] = defaultdict(list)
    for row in session.scalars(query.order_by(Payment.id).with_for_update(skip_locked=True, key_share=True)):
        reached[row.recipient].append(row)
    for recipient, rows in reached.items():
        owner = find_owner(session, observation.chain_id, recipient)
        tell_unmatched(session, owner if owner and owner[1] == observation.env_mode else None, rows, now)


def tell_unmatched(session: Session, owner: Owner | None, rows: Sequence[Payment], now: datetime) -> None:
    """Tell whoever owns the address which these locked transfers reached that they belong to no order, if anybody."""
    for row in rows:
        row.is_announced = True
    if owner is not None:
        for row, described in zip(rows, describe_unmatched(session, owner, rows), strict=True):
            publish(session, _make_event(row, described, owner, now))


def _make_event(row: Payment, described: dict[str, Any], owner: Owner, now: datetime) -> NewEvent:
    """Make an event with the properties that events about orders have, and the transfer."""
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


_IS_UNTOLD = (
    Payment.order_id.is_(None),
    Payment.is_announced.is_(False),
    Payment.kind == TransferKind.PAYMENT,
    or_(*(Payment.state == each for each in sorted(COUNTED))),
    or_(Payment.bridge_id == "", Payment.state == PaymentState.FINAL),
)
_UNTOLD = Statement(
    select(Payment.id)
    .where(
        Payment.env_mode == bindparam("env_mode", type_=Payment.env_mode.type),
        Payment.chain_id == bindparam("chain_id", type_=Payment.chain_id.type),
        *_IS_UNTOLD,
    )
    .order_by(Payment.id)
    .limit(MOST_AT_ONCE)
)
