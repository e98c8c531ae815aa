"""Which deliveries are sent next, and the leases that keep anyone else from sending them too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.ids import ALPHABET
from api.services.webhooks.outbox import DeliveryStatus
from api.services.webhooks.secrets import load_signing_secrets
from api.storage.tables import WebhookDelivery, WebhookEvent, WebhookSubscription

PER_SUBSCRIPTION = 4
"""Deliveries in flight for one subscription, so that a slow one leaves threads to the others."""

PARTS = 4
"""How many workers can send at the same time. A subscription is one worker's, so that its events keep their order."""

LOOK = 16
"""Candidates looked at beyond those that can be taken, as some have to wait for others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryLease:
    """A delivery that is this worker's to send until `lease_until`.

    Parameters
    ----------
    secrets : tuple of str
        All that sign, encrypted, the newest first; whoever sends the delivery decrypts them.
    """

    delivery_id: str
    event_id: str
    subscription_id: str
    order_id: str | None
    env_mode: EnvMode
    url: str
    payload: str
    secrets: tuple[str, ...] = field(repr=False)
    lease_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """A delivery that is due; `is_gone` if its subscription was deleted or disabled meanwhile."""

    delivery_id: str
    order_id: str | None
    subscription_id: str
    is_failing: bool
    is_gone: bool


class InFlight:
    """What is in flight in this process.

    Events of one order go to one subscription one after the other, so that they arrive in their order unless one
    fails; a subscription that is failing gets one request at a time.
    """

    def __init__(self) -> None:
        self._by_subscription: Counter[str] = Counter()
        self._orders: set[tuple[str, str]] = set()

    def copy_without(self, ended: Iterable[DeliveryLease]) -> InFlight:
        """Return what is in flight once these deliveries have ended."""
        other = InFlight()
        other._by_subscription, other._orders = self._by_subscription.copy(), self._orders.copy()
        for lease in ended:
            other._by_subscription[lease.subscription_id] -= 1
            other._orders.discard((lease.subscription_id, lease.order_id or ""))
        other._by_subscription += Counter()  # drops the zeros
        return other

    @property
    def count(self) -> int:
        """How many deliveries are being sent."""
        return self._by_subscription.total()

    def list_full(self) -> tuple[str, ...]:
        """Subscriptions that get no more for now."""
        return tuple(name for name, count in self._by_subscription.items() if count >= PER_SUBSCRIPTION)

    def admit(self, candidate: DueDelivery) -> bool:
        """Take a delivery in, unless its order or its subscription has to wait."""
        subscription_id, order_id = candidate.subscription_id, candidate.order_id
        limit = 1 if candidate.is_failing else PER_SUBSCRIPTION
        key = (subscription_id, order_id or "")
        if self._by_subscription[subscription_id] >= limit or (order_id and key in self._orders):
            return False
        self.enter(subscription_id, order_id)
        return True

    def enter(self, subscription_id: str, order_id: str | None) -> None:
        """Take a delivery in."""
        self._by_subscription[subscription_id] += 1
        if order_id:
            self._orders.add((subscription_id, order_id))


def select_part(part: int) -> ColumnElement[bool]:
    """Return what holds for the deliveries of a part: the last letter of a subscription's id is chance."""
    name = WebhookDelivery.subscription_id
    letter = func.substr(name, func.length(name))
    if part == 0:  # and whatever an id might end with one day
        return letter.not_in([each for number in range(1, PARTS) for each in ALPHABET[number::PARTS]])
    return letter.in_([*ALPHABET[part::PARTS]])


def is_any_due(session: Session, now: datetime, mine: ColumnElement[bool]) -> bool:
    """Whether there may be something to lease; asks without locking anything."""
    return session.scalar(select(WebhookDelivery.id).where(_is_due(now), mine).limit(1)) is not None


def lease_due(
    session: Session, in_flight: InFlight, now: datetime, period: timedelta, free: int, mine: ColumnElement[bool]
) -> list[DeliveryLease]:
    """Lease up to `free` due deliveries of those that are `mine` and that `in_flight` admits, oldest first.

    Deliveries to a subscription that was deleted or disabled meanwhile are cancelled instead.
    """
    admitted: list[str] = []
    seen = set(in_flight.list_full())
    while len(admitted) < free:
        rows = _list_candidates(session, and_(_is_due(now), mine), seen, limit=2 * free + LOOK)
        if not rows:
            break
        for row in rows:
            if row.is_gone:
                _cancel(session, row.delivery_id)
            elif len(admitted) < free and in_flight.admit(row):
                admitted.append(row.delivery_id)
        seen.update(row.subscription_id for row in rows)
    return _lease_all(session, admitted, now, now + period) if admitted else []


def _list_candidates(
    session: Session, wanted: ColumnElement[bool], without: Collection[str], limit: int
) -> list[DueDelivery]:
    # Two workers may ask at once. PostgreSQL locks the rows and skips locked ones; SQLite ignores the clause, and
    # needs none: the transaction has begun as the only writer.
    gone = or_(WebhookSubscription.deleted_at.is_not(None), WebhookSubscription.disabled_at.is_not(None))
    statement = (
        select(
            WebhookDelivery.id, WebhookEvent.order_id, WebhookSubscription.id, WebhookSubscription.failing_since, gone
        )
        .join(WebhookEvent, WebhookEvent.id == WebhookDelivery.event_id)
        .join(WebhookSubscription, WebhookSubscription.id == WebhookDelivery.subscription_id)
        .where(wanted, WebhookDelivery.subscription_id.not_in(without))
        .order_by(WebhookDelivery.next_attempt_at, WebhookEvent.seq)
        .limit(limit)
        .with_for_update(of=WebhookDelivery, skip_locked=True)
    )
    return [
        DueDelivery(
            delivery_id=delivery_id,
            order_id=order_id,
            subscription_id=subscription_id,
            is_failing=failing_since is not None,
            is_gone=is_gone,
        )
        for delivery_id, order_id, subscription_id, failing_since, is_gone in session.execute(statement)
    ]


def _lease_all(session: Session, delivery_ids: Sequence[str], now: datetime, until: datetime) -> list[DeliveryLease]:
    mine = WebhookDelivery.id.in_(delivery_ids)
    session.execute(update(WebhookDelivery).where(mine).values(lease_until=until))
    statement = (
        select(WebhookDelivery.id, WebhookEvent, WebhookSubscription)
        .join(WebhookEvent, WebhookEvent.id == WebhookDelivery.event_id)
        .join(WebhookSubscription, WebhookSubscription.id == WebhookDelivery.subscription_id)
        .where(mine)
        .order_by(WebhookEvent.seq)
    )
    rows = session.execute(statement).all()
    secrets = load_signing_secrets(session, {subscription.id for _, _, subscription in rows}, now)
    return [
        _make_lease(delivery_id, event, subscription, secrets.get(subscription.id, ()), until)
        for delivery_id, event, subscription in rows
    ]


def _cancel(session: Session, delivery_id: str) -> None:
    values = {"status": DeliveryStatus.CANCELLED, "next_attempt_at": None}
    session.execute(update(WebhookDelivery).where(WebhookDelivery.id == delivery_id).values(values))


def _is_due(now: datetime) -> ColumnElement[bool]:
    return and_(
        WebhookDelivery.status == DeliveryStatus.PENDING,
        WebhookDelivery.next_attempt_at <= now,
        or_(WebhookDelivery.lease_until.is_(None), WebhookDelivery.lease_until <= now),
    )


def _make_lease(
    delivery_id: str,
    event: WebhookEvent,
    subscription: WebhookSubscription,
    secrets: tuple[str, ...],
    lease_until: datetime,
) -> DeliveryLease:
    return DeliveryLease(
        delivery_id=delivery_id,
        event_id=event.id,
        subscription_id=subscription.id,
        order_id=event.order_id,
        env_mode=EnvMode(subscription.env_mode),
        url=subscription.url,
        payload=event.payload,
        secrets=secrets,
        lease_until=lease_until,
    )
