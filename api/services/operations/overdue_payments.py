"""Payments of orders that should be final by now: nothing is while half of a chain's endpoints are silent."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.domain.confirmations import estimate_final_in_s
from api.domain.payments import CHECKED
from api.services.resources import Resources
from api.storage.tables import Payment

GRACE = timedelta(minutes=10)
"""Beyond what a chain usually takes until its blocks are final."""


def count_overdue(resources: Resources, session: Session, now: datetime) -> dict[tuple[str, int], int]:
    """Count the payments of orders on each connected chain, by environment and chain id, that wait for too long.

    They wait for a proof, for a second endpoint's word or for finality; so do refunds of what they brought.
    """
    counts: dict[tuple[str, int], int] = {}
    for env_mode, ledger in resources.ledgers.items():
        for chain_id in sorted(ledger.chain_ids):
            usual = timedelta(seconds=estimate_final_in_s(chain_id, 0, is_simulated=ledger.is_simulated))
            waiting = select(func.count(Payment.id)).where(
                Payment.env_mode == env_mode,
                Payment.chain_id == chain_id,
                Payment.state.in_(CHECKED),
                Payment.order_id.is_not(None),
                Payment.mined_at < now - usual - GRACE,
            )
            counts[str(env_mode), chain_id] = session.scalar(waiting) or 0
    return counts
