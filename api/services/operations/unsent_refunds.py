"""Refunds that a vendor asked for and whose chain has not all of: its wallet has not sent them, or they are stuck."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.storage.tables import PaymentOrder, Refund

SENT_WITHIN = timedelta(days=1)
"""How long a wallet may take before somebody should ask."""
GIVEN_UP_AFTER = timedelta(days=30)
"""One that was asked for longer ago is nobody's plan any more."""


def count_unsent(session: Session, now: datetime) -> dict[str, int]:
    """Count the refunds of each environment that have waited for too long, and are not cancelled."""
    query = (
        select(PaymentOrder.env_mode, func.count(Refund.id))
        .join(PaymentOrder, PaymentOrder.id == Refund.order_id)
        .where(
            Refund.is_announced.is_(False),
            Refund.cancelled_at.is_(None),
            Refund.created_at < now - SENT_WITHIN,
            Refund.created_at >= now - GIVEN_UP_AFTER,
        )
    )
    return {row[0]: row[1] for row in session.execute(query.group_by(PaymentOrder.env_mode))}
