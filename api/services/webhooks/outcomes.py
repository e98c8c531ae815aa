"""What an attempt changes: the delivery, its log, and the subscription's health."""

from __future__ import annotations

import logging
import random
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus

import structlog
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from api.net.client import HttpReply
from api.services.webhooks.leases import DeliveryLease
from api.services.webhooks.outbox import DeliveryStatus
from api.services.webhooks.retry_schedule import DISABLE_AFTER, plan_next_attempt
from api.storage.tables import WebhookAttempt, WebhookDelivery, WebhookSubscription

MAX_EXCERPT = 500
GONE = "gone"
FAILING = "failing_for_5_days"
DISABLED_BECAUSE: Mapping[str, str] = {
    GONE: "its address answered 410 Gone",
    FAILING: "nothing could be delivered to it for 5 days",
}

log = structlog.get_logger(__name__)


def record_outcome(session: Session, lease: DeliveryLease, reply: HttpReply, now: datetime, rng: random.Random) -> None:
    """Write down an attempt and decide what follows from it."""
    # The subscription is locked first here and everywhere, or two transactions could wait for each other.
    subscription = session.get_one(WebhookSubscription, lease.subscription_id, with_for_update={"key_share": True})
    delivery = session.get_one(WebhookDelivery, lease.delivery_id, with_for_update=True)
    attempt = _log_attempt(session, lease, reply, now)
    ours = delivery.lease_until == lease.lease_until and delivery.status == DeliveryStatus.PENDING
    succeeded = is_success(reply)
    if ours or succeeded:
        delivery.attempts += 1
        delivery.lease_until = None
        delivery.response_status, delivery.response_excerpt = reply.status, reply.excerpt[:MAX_EXCERPT]
        delivery.duration_ms = reply.duration_ms
    if succeeded:
        delivery.status, delivery.delivered_at, delivery.next_attempt_at = DeliveryStatus.DELIVERED, now, None
        subscription.failing_since = None
    elif ours and subscription.url != lease.url:
        delivery.next_attempt_at = now  # it says nothing of the address that the subscription has since then
    elif ours:
        _fail(session, lease, delivery, subscription, reply, now, rng)
    log.log(
        logging.WARNING if delivery.status == DeliveryStatus.FAILED else logging.INFO,
        "webhook_attempt",
        delivery_id=lease.delivery_id,
        subscription_id=lease.subscription_id,
        event_id=lease.event_id,
        attempt=attempt,
        response_status=reply.status,
        error=reply.error,
        duration_ms=reply.duration_ms,
        delivery_status=str(delivery.status),
    )


def is_success(reply: HttpReply) -> bool:
    """Whether the receiver took the event: any 2xx; a redirect is a failure."""
    return reply.status is not None and 200 <= reply.status < 300


def disable(session: Session, subscription: WebhookSubscription, reason: str, at: datetime) -> None:
    """Send nothing more to a subscription; its log stays."""
    subscription.disabled_at, subscription.disabled_reason, subscription.updated_at = at, reason, at
    cancel_pending(session, subscription.id)
    log.warning("webhook_disabled", subscription_id=subscription.id, reason=reason)


def cancel_pending(session: Session, subscription_id: str) -> None:
    """Give up what a subscription has not received yet."""
    session.execute(
        update(WebhookDelivery)
        .where(
            WebhookDelivery.subscription_id == subscription_id,
            WebhookDelivery.status == DeliveryStatus.PENDING,
        )
        .values(status=DeliveryStatus.CANCELLED, next_attempt_at=None, lease_until=None)
    )


def _fail(
    session: Session,
    lease: DeliveryLease,
    delivery: WebhookDelivery,
    subscription: WebhookSubscription,
    reply: HttpReply,
    now: datetime,
    rng: random.Random,
) -> None:
    subscription.failing_since = subscription.failing_since or now
    delivery.next_attempt_at = plan_next_attempt(delivery.attempts, lease.env_mode, reply, now, rng)
    gone = reply.status == HTTPStatus.GONE
    if gone or delivery.next_attempt_at is None:
        delivery.status, delivery.next_attempt_at = DeliveryStatus.FAILED, None
    if subscription.disabled_at is None and (gone or now - subscription.failing_since >= DISABLE_AFTER):
        session.flush()
        disable(session, subscription, GONE if gone else FAILING, now)


def _log_attempt(session: Session, lease: DeliveryLease, reply: HttpReply, now: datetime) -> int:
    earlier = select(func.count()).where(WebhookAttempt.delivery_id == lease.delivery_id)
    number = (session.scalar(earlier) or 0) + 1
    session.add(
        WebhookAttempt(
            delivery_id=lease.delivery_id,
            attempt=number,
            at=now,
            response_status=reply.status,
            response_excerpt=reply.excerpt[:MAX_EXCERPT],
            error=reply.error,
            duration_ms=reply.duration_ms,
        )
    )
    return number
