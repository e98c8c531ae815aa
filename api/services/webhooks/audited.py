"""Write down what a vendor does with its webhooks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from api.domain.audit import AuditAction, Change
from api.services.audit import record_change
from api.storage.tables import WebhookSubscription

DIGITS = 12


def describe_subscription(row: WebhookSubscription) -> dict[str, Any]:
    """Say where events go without the address, which may hold a secret; its digest tells one from another."""
    digest = hashlib.sha256(row.url.encode()).hexdigest()[:DIGITS]
    return {"host": urlsplit(row.url).hostname or "", "url_sha256": digest, "events": list(row.events)}


def record_webhook_change(
    session: Session, action: AuditAction, row: WebhookSubscription, at: datetime, **states: Mapping[str, Any]
) -> None:
    """Write down what becomes of a webhook, with `before` and `after`."""
    change = Change(action=action, subject=row.id, vendor_id=row.vendor_id, env_mode=row.env_mode, **states)
    record_change(session, change, at)
