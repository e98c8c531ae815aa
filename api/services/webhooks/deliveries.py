"""What was sent to a subscription and what came of it: newest first, page by page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Select, select, text
from sqlalchemy.orm import Session

from api.services.resources import Resources
from api.services.vendors.api_keys import ApiKey
from api.services.webhooks.outbox import DeliveryStatus
from api.services.webhooks.subscriptions import find_subscription
from api.storage.tables import WebhookAttempt, WebhookDelivery, WebhookEvent
from api.storage.tables.webhooks import IS_GIVEN_UP

GIVEN_UP = frozenset({DeliveryStatus.FAILED, DeliveryStatus.CANCELLED})
"""What `IS_GIVEN_UP` has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedDelivery:
    """A delivery with its event and every attempt, oldest first."""

    delivery: WebhookDelivery
    event: WebhookEvent
    attempts: Sequence[WebhookAttempt]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPage:
    """Deliveries, newest first; `next_cursor` asks for the ones before, and is None at the end."""

    deliveries: Sequence[LoggedDelivery]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFilter:
    """What a delivery has to have; of several, all.

    Parameters
    ----------
    status : collection of str
        Any of these; every one if empty.
    event_id : str or None
        The event that it is of.
    payment_order_id : str or None
        The order that its event is about.
    """

    status: Collection[str] = ()
    event_id: str | None = None
    payment_order_id: str | None = None


def list_deliveries(
    resources: Resources,
    key: ApiKey,
    subscription_id: str,
    wanted: DeliveryFilter,
    *,
    limit: int,
    cursor: str | None,
) -> DeliveryPage:
    """Return the log of one subscription, or what of it fits.

    Raises
    ------
    NotFound
        If the vendor has no such subscription.
    """
    with resources.database.read() as session:
        find_subscription(session, key, subscription_id)
        rows = session.execute(build_query(subscription_id, wanted, limit + 1, cursor)).all()
        attempts = list_attempts(session, [delivery.id for delivery, _ in rows])
    page = [LoggedDelivery(delivery=row, event=event, attempts=attempts[row.id]) for row, event in rows[:limit]]
    return DeliveryPage(deliveries=page, next_cursor=page[-1].delivery.id if len(rows) > limit else None)


def build_query(
    subscription_id: str, wanted: DeliveryFilter, limit: int, cursor: str | None = None
) -> Select[WebhookDelivery, WebhookEvent]:
    """Return the query of a page of deliveries with their events."""
    conditions = [
        *([WebhookDelivery.status.in_(wanted.status)] if wanted.status else ()),
        *([text(f"webhook_deliveries.{IS_GIVEN_UP}")] if wanted.status and GIVEN_UP.issuperset(wanted.status) else ()),
        *([WebhookDelivery.event_id == wanted.event_id] if wanted.event_id else ()),
        *([WebhookEvent.order_id == wanted.payment_order_id] if wanted.payment_order_id else ()),
        *([WebhookDelivery.id < cursor] if cursor is not None else ()),
    ]
    return (
        select(WebhookDelivery, WebhookEvent)
        .join(WebhookEvent, WebhookEvent.id == WebhookDelivery.event_id)
        .where(WebhookDelivery.subscription_id == subscription_id, *conditions)
        .order_by(WebhookDelivery.id.desc())
        .limit(limit)
    )


def list_attempts(session: Session, delivery_ids: Sequence[str]) -> Mapping[str, Sequence[WebhookAttempt]]:
    """Return the attempts at each of these deliveries, oldest first."""
    query = select(WebhookAttempt).where(WebhookAttempt.delivery_id.in_(delivery_ids)).order_by(WebhookAttempt.id)
    found: defaultdict[str, list[WebhookAttempt]] = defaultdict(list)
    for attempt in session.scalars(query):
        found[attempt.delivery_id].append(attempt)
    return found
