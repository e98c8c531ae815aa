"""Webhooks as the operator sees them, who has no vendor's key: what there is, what came of it, and sending it again.

Hosts are named, addresses are not: those may hold a secret of the receiver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import Conflict, NotFound
from api.services.resources import Resources
from api.services.webhooks.archived import refuse_archived
from api.services.webhooks.delivery_log import restart
from api.services.webhooks.missed import GIVEN_UP
from api.services.webhooks.outbox import DeliveryStatus
from api.services.webhooks.subscriptions import require_active
from api.storage.tables import WebhookAttempt, WebhookDelivery, WebhookEvent, WebhookSubscription


def list_webhooks(session: Session, vendor_id: str, env_mode: EnvMode) -> list[dict[str, Any]]:
    """Describe a vendor's webhooks of an environment, the newest first."""
    query = (
        select(WebhookSubscription)
        .where(
            WebhookSubscription.vendor_id == vendor_id,
            WebhookSubscription.env_mode == env_mode,
            WebhookSubscription.deleted_at.is_(None),
        )
        .order_by(WebhookSubscription.created_at.desc(), WebhookSubscription.id.desc())
    )
    return [_describe_webhook(row) for row in session.scalars(query)]


def list_deliveries(
    session: Session, webhook_id: str, status: DeliveryStatus | None, limit: int
) -> list[dict[str, Any]]:
    """Describe what was sent to a webhook, or is to be, the newest first.

    Raises
    ------
    NotFound
        If there is no such webhook.
    """
    _find_webhook(session, webhook_id)
    wanted = [WebhookDelivery.subscription_id == webhook_id]
    if status is not None:
        wanted.append(WebhookDelivery.status == status)
    query = (
        select(WebhookDelivery, WebhookEvent.type, WebhookEvent.order_id)
        .join(WebhookEvent, WebhookEvent.id == WebhookDelivery.event_id)
        .where(*wanted)
        .order_by(WebhookDelivery.created_at.desc(), WebhookDelivery.id.desc())
        .limit(limit)
    )
    rows = session.execute(query).all()
    answers = _find_last_answers(session, [delivery.id for delivery, _, _ in rows])
    return [
        {
            "delivery_id": delivery.id,
            "event": event,
            "payment_order_id": order_id,
            "status": delivery.status,
            "attempts": delivery.attempts,
            "last_answer": answers.get(delivery.id),
            "next_attempt_at": _write(delivery.next_attempt_at),
            "created_at": format_time(delivery.created_at),
        }
        for delivery, event, order_id in rows
    ]


def redeliver(resources: Resources, delivery_id: str) -> None:
    """Send a delivery of any vendor again, with the same event's id and a fresh schedule of retries.

    Raises
    ------
    NotFound
        If there is no such delivery.
    Gone
        If it would be so old that it was archived.
    Conflict
        If it is being sent at this moment, or its webhook is disabled or deleted.
    """
    with resources.database.write() as session:
        owner = select(WebhookDelivery.subscription_id).where(WebhookDelivery.id == delivery_id)
        webhook_id = session.scalar(owner)
        if webhook_id is None:
            refuse_archived(session, delivery_id, "read the order that its event was about")
            raise NotFound(f"There is no delivery {delivery_id!r}")
        require_active(_find_webhook(session, webhook_id))
        restart(session, delivery_id, resources.clock.now())


def redeliver_failed(resources: Resources, webhook_id: str) -> Iterator[tuple[str, str]]:
    """Send again all that was given up for a webhook, the oldest first; each is a transaction of its own.

    Yields
    ------
    tuple of (str, str)
        A delivery, and why it was passed over; empty where it is on its way.

    Raises
    ------
    NotFound
        If there is no such webhook.
    Conflict
        If it is disabled.
    """
    query = (
        select(WebhookDelivery.id)
        .where(WebhookDelivery.subscription_id == webhook_id, WebhookDelivery.status.in_(GIVEN_UP))
        .order_by(WebhookDelivery.created_at, WebhookDelivery.id)
    )
    with resources.database.read() as session:
        require_active(_find_webhook(session, webhook_id))
        found = session.scalars(query).all()
    for delivery_id in found:
        try:
            redeliver(resources, delivery_id)
        except (Conflict, NotFound) as error:
            yield delivery_id, error.message
        else:
            yield delivery_id, ""


def _find_webhook(session: Session, webhook_id: str) -> WebhookSubscription:
    found = session.get(WebhookSubscription, webhook_id)
    if found is None or found.deleted_at is not None:
        raise NotFound(f"There is no webhook {webhook_id!r}; `checkout webhooks list VENDOR --env …` shows them")
    return found


def _describe_webhook(row: WebhookSubscription) -> dict[str, Any]:
    state = "failing" if row.failing_since else "active"
    return {
        "webhook_id": row.id,
        "host": urlsplit(row.url).hostname or "",
        "state": f"disabled: {row.disabled_reason}" if row.disabled_at else state,
        "since": _write(row.disabled_at or row.failing_since),
        "events": ",".join(row.events),
        "created_at": format_time(row.created_at),
    }


def _find_last_answers(session: Session, delivery_ids: Sequence[str]) -> Mapping[str, str]:
    """Return what came of each delivery's last attempt: the status, or why there was none."""
    query = (
        select(WebhookAttempt.delivery_id, WebhookAttempt.response_status, WebhookAttempt.error)
        .where(WebhookAttempt.delivery_id.in_(delivery_ids))
        .order_by(WebhookAttempt.id)
    )
    return {row[0]: row[2] or str(row[1]) for row in session.execute(query)}


def _write(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)
