"""Which deliveries are sent next, and the leases that keep anyone else from sending them too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.services.webhooks.in_flight import DueDelivery, InFlight, Waiting
from api.services.webhooks.secrets import load_signing_secrets
from api.services.webhooks.waiting import PENDING, WaitingQueries, cancel, list_waiting, lock_due
from api.storage.statements import Place
from api.storage.tables import WebhookDelivery, WebhookEvent, WebhookSubscription


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryLease(DueDelivery):
    """A delivery that is this worker's to send until `lease_until`.

    Parameters
    ----------
    secrets : tuple of str
        All that sign, encrypted, the newest first; whoever sends the delivery decrypts them.
    """

    event_id: str
    env_mode: EnvMode
    url: str
    payload: str
    secrets: tuple[str, ...] = field(repr=False)
    lease_until: datetime


def is_any_due(place: Place, in_flight: InFlight, now: datetime, queries: WaitingQueries) -> bool:
    """Whether there may be something to lease; asks without locking anything."""
    return any(one.is_gone or in_flight.is_open(one) for one in list_waiting(place, queries, now))


def lease_due(
    session: Session, in_flight: InFlight, now: datetime, period: timedelta, free: int, queries: WaitingQueries
) -> list[DeliveryLease]:
    """Lease up to `free` due deliveries that `in_flight` admits, by turns of the vendors.

    Deliveries to a subscription that was deleted or disabled meanwhile are cancelled instead.

    Parameters
    ----------
    queries : WaitingQueries
        Of `select_waiting`.
    """
    if free <= 0:
        return []
    active = []
    for one in list_waiting(session, queries, now):
        if one.is_gone:
            cancel(session, [due.delivery_id for due in lock_due(session, one, now)])
        else:
            active.append(one)
    admitted = [due.delivery_id for due in _take_turns(session, in_flight, active, now, free)]
    return _lease_all(session, admitted, now, now + period) if admitted else []


def free_leases(session: Session, mine: ColumnElement[bool]) -> None:
    """Let everything be sent that somebody has leased for the subscriptions that are `mine`."""
    names = select(WebhookSubscription.id).where(mine)
    leased = (PENDING, WebhookDelivery.lease_until.is_not(None), WebhookDelivery.subscription_id.in_(names))
    session.execute(update(WebhookDelivery).where(*leased).values(lease_until=None))


def _take_turns(
    session: Session, in_flight: InFlight, waiting: Iterable[Waiting], now: datetime, free: int
) -> Iterator[DueDelivery]:
    """Yield what `in_flight` has taken in, always of the subscription whose turn it is."""
    by_name = {one.subscription_id: one for one in waiting}
    candidates: dict[str, Iterator[DueDelivery]] = {}
    turns = [(in_flight.rank(one), name) for name, one in by_name.items()]
    heapify(turns)
    while turns and free:
        rank, name = heappop(turns)
        one = by_name[name]
        if not in_flight.is_open(one):  # nor will it be: nothing ends meanwhile
            continue
        if rank == in_flight.rank(one):
            if name not in candidates:
                candidates[name] = iter(lock_due(session, one, now))
            chosen = next((due for due in candidates[name] if in_flight.admit(due)), None)
            if chosen is None:
                continue
            free -= 1
            yield chosen
        heappush(turns, (in_flight.rank(one), name))


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
        vendor_id=subscription.vendor_id,
        subscription_id=subscription.id,
        order_id=event.order_id,
        env_mode=EnvMode(subscription.env_mode),
        url=subscription.url,
        payload=event.payload,
        secrets=secrets,
        lease_until=lease_until,
    )
