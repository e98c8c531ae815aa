"""What a subscription did not get, sent again.

While a subscription is disabled its vendor's events are written as always, only without a delivery to it. So nothing is
lost, however long it lasts, and a page at a time can be put into the outbox later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import Session

from api.domain.audit import AuditAction
from api.domain.ids import IdPrefix, make_id
from api.services.resources import Resources
from api.services.vendors.api_keys import ApiKey
from api.services.webhooks.audited import record_webhook_change
from api.services.webhooks.delivery_log import find_place, select_owned_events
from api.services.webhooks.numbering import find_last_settled
from api.services.webhooks.outbox import DeliveryStatus
from api.services.webhooks.retry_schedule import DISABLE_AFTER
from api.services.webhooks.subscriptions import find_subscription, require_active
from api.storage.tables import WebhookDelivery, WebhookEvent, WebhookSubscription

GIVEN_UP = (DeliveryStatus.FAILED, DeliveryStatus.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Enabled:
    """A subscription that is active again; `missed_since` is None if it was active before."""

    subscription: WebhookSubscription
    missed_since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Redelivered:
    """Events that are on their way again, oldest first; `since=next_cursor` asks for those after."""

    event_ids: Sequence[str]
    next_cursor: str
    has_more: bool


def enable(resources: Resources, key: ApiKey, subscription_id: str) -> Enabled:
    """Send new events to a disabled subscription again, and say since when it has missed some."""
    now = resources.clock.now()
    with resources.database.write(by=key.key_id) as session:
        subscription = find_subscription(session, key, subscription_id, lock=True)
        if subscription.disabled_at is not None:
            before = {"disabled_reason": subscription.disabled_reason}
            record_webhook_change(session, AuditAction.WEBHOOK_ENABLED, subscription, now, before=before)
        missed_since = _find_first_missed(session, subscription)
        subscription.disabled_at = subscription.disabled_reason = subscription.failing_since = None
        subscription.updated_at = now
    return Enabled(subscription=subscription, missed_since=missed_since)


def redeliver_missed(resources: Resources, key: ApiKey, subscription_id: str, *, since: str, limit: int) -> Redelivered:
    """Send the events that a subscription did not get, with their own ids and a fresh schedule of retries.

    What failed and waits to be tried again goes out now. What it got is left out, and what is on its way. So the same
    call again sends nothing twice.

    Parameters
    ----------
    since : str
        The id of an event, which is left out, or a moment in ISO 8601.
    limit : int
        At most so many events.

    Raises
    ------
    NotFound
        If there is no such subscription.
    Conflict
        If it is disabled.
    InvalidData
        If there is no event with the id of `since`.
    """
    now = resources.clock.now()
    last = find_last_settled(resources.database, key.vendor_id, key.env_mode)
    with resources.database.read() as session:  # searching a long history takes its time, and holds nothing meanwhile
        subscription = find_subscription(session, key, subscription_id)
        require_active(subscription)
        wanted = [WebhookEvent.seq <= last, find_place(session, select_owned_events(key), since, "since")]
        found = session.scalars(
            _select_missed(key, subscription, now, WebhookEvent.id).where(*wanted).limit(limit + 1)
        ).all()
    page = found[:limit]
    with resources.database.write() as session:
        subscription = find_subscription(session, key, subscription_id, lock=True)
        require_active(subscription)
        missed = _select_missed(key, subscription, now, WebhookEvent, WebhookDelivery).where(WebhookEvent.id.in_(page))
        # Another request may have sent some since; and nobody archives the others meanwhile.
        rows = session.execute(missed.with_for_update(of=WebhookEvent, key_share=True)).all()
        for event, delivery in rows:
            _put_back(session, event, delivery, subscription.id, now)
    sent = [event.id for event, _ in rows]
    return Redelivered(event_ids=sent, next_cursor=page[-1] if page else since, has_more=len(found) > limit)


def _find_first_missed(session: Session, subscription: WebhookSubscription) -> datetime | None:
    """Return when the first event was made that a disabled subscription did not get; what came after it it may have."""
    if subscription.disabled_at is None:
        return None
    began = min(subscription.failing_since or subscription.disabled_at, subscription.disabled_at)
    first = select(func.min(WebhookDelivery.created_at)).where(
        WebhookDelivery.subscription_id == subscription.id,
        WebhookDelivery.status.in_(GIVEN_UP),
        WebhookDelivery.created_at >= began - DISABLE_AFTER,
    )
    return min(began, session.scalar(first) or began)


def _select_missed(key: ApiKey, subscription: WebhookSubscription, now: datetime, *columns: Any) -> Select[Any]:
    is_put_off = and_(
        WebhookDelivery.status == DeliveryStatus.PENDING,
        WebhookDelivery.attempts > 0,
        WebhookDelivery.next_attempt_at > now,
        or_(WebhookDelivery.lease_until.is_(None), WebhookDelivery.lease_until <= now),
    )
    to_it = and_(WebhookDelivery.event_id == WebhookEvent.id, WebhookDelivery.subscription_id == subscription.id)
    return (
        select(*columns)
        .select_from(WebhookEvent)
        .outerjoin(WebhookDelivery, to_it)
        .where(*select_owned_events(key), WebhookEvent.type.in_(subscription.events))
        .where(or_(WebhookDelivery.id.is_(None), WebhookDelivery.status.in_(GIVEN_UP), is_put_off))
        .order_by(WebhookEvent.seq)
    )


def _put_back(
    session: Session, event: WebhookEvent, delivery: WebhookDelivery | None, subscription_id: str, now: datetime
) -> None:
    if delivery is None:
        delivery = WebhookDelivery(
            id=make_id(IdPrefix.DELIVERY, now), event_id=event.id, subscription_id=subscription_id, created_at=now
        )
        session.add(delivery)
    delivery.status, delivery.attempts = DeliveryStatus.PENDING, 0
    delivery.next_attempt_at, delivery.delivered_at, delivery.lease_until = now, None, None
