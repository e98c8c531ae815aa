"""How receivers of webhooks fare: whether those that take what they are sent get it in time, and which take nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import case, func, or_, select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.services.webhooks.outbox import DeliveryStatus
from api.storage.tables import WebhookDelivery, WebhookSubscription

MOST_NAMED = 20
"""Receivers that are told one by one: anybody who is a vendor can make dead ones."""
_IS_OWN = WebhookSubscription.deleted_at.is_(None)
_IS_ASKED = (_IS_OWN, WebhookSubscription.disabled_at.is_(None))
"""Whether it is sent anything."""


class ReceiverState(StrEnum):
    """How a receiver fares."""

    TAKING = "taking"
    FAILING = "failing"
    DISABLED = "disabled"


def find_overdue(session: Session, now: datetime) -> timedelta:
    """Return for how long a delivery has been due that nobody sends, to a receiver that took what it was sent last.

    One that waits for its next attempt is not due, and one for a receiver that takes nothing is late by that alone.
    """
    query = (
        select(func.min(WebhookDelivery.next_attempt_at))
        .join(WebhookSubscription, WebhookSubscription.id == WebhookDelivery.subscription_id)
        .where(
            WebhookDelivery.status == DeliveryStatus.PENDING,
            WebhookDelivery.next_attempt_at <= now,
            or_(WebhookDelivery.lease_until.is_(None), WebhookDelivery.lease_until <= now),
            WebhookSubscription.failing_since.is_(None),
            *_IS_ASKED,
        )
    )
    due_since = session.scalar(query)
    return timedelta() if due_since is None else now - due_since


def count_receivers(session: Session) -> dict[tuple[EnvMode, ReceiverState], int]:
    """Count receivers by environment and by how they fare."""
    state = case(
        (WebhookSubscription.disabled_at.is_not(None), ReceiverState.DISABLED),
        (WebhookSubscription.failing_since.is_not(None), ReceiverState.FAILING),
        else_=ReceiverState.TAKING,
    ).label("state")
    query = select(WebhookSubscription.env_mode, state, func.count()).where(_IS_OWN).group_by("env_mode", "state")
    found = {(row[0], row[1]): row[2] for row in session.execute(query)}
    return {(mode, each): found.get((mode, each), 0) for mode in EnvMode for each in ReceiverState}


def list_failing(session: Session, now: datetime) -> Sequence[tuple[str, timedelta]]:
    """Return the live receivers that have taken nothing for longest, and for how long; not more than `MOST_NAMED`."""
    query = (
        select(WebhookSubscription.id, WebhookSubscription.failing_since)
        .where(WebhookSubscription.env_mode == EnvMode.LIVE, WebhookSubscription.failing_since.is_not(None), *_IS_ASKED)
        .order_by(WebhookSubscription.failing_since, WebhookSubscription.id)
        .limit(MOST_NAMED)
    )
    return [(each, now - since) for each, since in session.execute(query) if since is not None]
