"""The secrets that sign a webhook's deliveries: the newest, and for a day each one before it."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.orm import Session

from api.domain.errors import Conflict
from api.secrets.box import SecretBox
from api.storage.tables import WebhookSecret

SECRET_BYTES = 32
OVERLAP = timedelta(hours=24)
MOST = 10
"""Secrets that sign at once: each makes every delivery's headers longer."""


def add_secret(session: Session, box: SecretBox, subscription_id: str, at: datetime) -> str:
    """Make a new secret and return it; the one before signs for a day more, each earlier one until its end.

    Raises
    ------
    Conflict
        If there were too many within a day.
    """
    session.execute(delete(WebhookSecret).where(_select_subscription(subscription_id), WebhookSecret.expires_at <= at))
    count = (
        session.scalar(select(func.count()).select_from(WebhookSecret).where(_select_subscription(subscription_id)))
        or 0
    )
    if count >= MOST:
        first = session.scalars(
            select(WebhookSecret.expires_at)
            .where(_select_subscription(subscription_id), WebhookSecret.expires_at.is_not(None))
            .order_by(WebhookSecret.expires_at)
        ).first()
        wait_s = int((first - at).total_seconds()) + 1 if first is not None else None
        raise Conflict(f"This webhook has had {count} secrets within 24 hours; wait", retry_after_s=wait_s)
    newest = update(WebhookSecret).where(_select_subscription(subscription_id), WebhookSecret.expires_at.is_(None))
    session.execute(newest.values(expires_at=at + OVERLAP))
    text = f"whsec_{base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()}"
    sealed = box.seal(text, name_purpose(subscription_id))
    session.add(WebhookSecret(subscription_id=subscription_id, ciphertext=sealed, created_at=at))
    return text


def forget_secrets(session: Session, subscription_id: str) -> None:
    """Delete all secrets of a subscription."""
    session.execute(delete(WebhookSecret).where(_select_subscription(subscription_id)))


def load_signing_secrets(
    session: Session, subscription_ids: Collection[str], now: datetime
) -> Mapping[str, tuple[str, ...]]:
    """Return the secrets that sign now, still encrypted, by subscription, the newest first."""
    found: dict[str, tuple[str, ...]] = {}
    query = (
        select(WebhookSecret)
        .where(
            WebhookSecret.subscription_id.in_(subscription_ids),
            or_(WebhookSecret.expires_at.is_(None), WebhookSecret.expires_at > now),
        )
        .order_by(WebhookSecret.id.desc())
    )
    for row in session.scalars(query):
        found[row.subscription_id] = (*found.get(row.subscription_id, ()), row.ciphertext)
    return found


def name_purpose(subscription_id: str) -> str:
    """Say whose a webhook's secret is, for `SecretBox`."""
    return f"webhook secret of {subscription_id}"


def _select_subscription(subscription_id: str) -> ColumnElement[bool]:
    return WebhookSecret.subscription_id == subscription_id
