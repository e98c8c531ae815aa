"""Sending again what was sent; and the events themselves, for reconciliation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import Conflict, Faults, InvalidData, NotFound
from api.domain.events import parse_place
from api.services.resources import Resources
from api.services.vendors.api_keys import ApiKey
from api.services.webhooks.archived import find_horizon, refuse_archived
from api.services.webhooks.deliveries import LoggedDelivery, list_attempts
from api.services.webhooks.numbering import find_last_settled
from api.services.webhooks.outbox import DeliveryStatus
from api.services.webhooks.subscriptions import find_subscription, require_active
from api.storage.tables import WebhookDelivery, WebhookEvent, WebhookSubscription


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """Events in the order in which they became known; `since=next_cursor` asks for those after."""

    events: Sequence[WebhookEvent]
    next_cursor: str | None
    has_more: bool


def redeliver(resources: Resources, key: ApiKey, delivery_id: str) -> LoggedDelivery:
    """Send an event to a subscription again, with the same id and a fresh schedule of retries.

    Raises
    ------
    NotFound
        If there is no such delivery, or it is another vendor's, or of the other environment.
    Gone
        If it would be so old that it was archived.
    Conflict
        If it is being sent at this moment, or the subscription is disabled.
    """
    now = resources.clock.now()
    with resources.database.write() as session:
        owner = (
            select(WebhookDelivery.subscription_id)
            .join(WebhookSubscription)
            .where(
                WebhookDelivery.id == delivery_id,
                WebhookSubscription.vendor_id == key.vendor_id,
                WebhookSubscription.env_mode == key.env_mode,
            )
        )
        subscription_id = session.scalar(owner)
        if subscription_id is not None:
            require_active(find_subscription(session, key, subscription_id))
        if subscription_id is None:
            refuse_archived(session, delivery_id, "read the order that its event was about")
            raise NotFound("There is no delivery with this id")
        delivery = restart(session, delivery_id, now)
        session.flush()
        event = session.scalars(select(WebhookEvent).where(WebhookEvent.id == delivery.event_id)).one()
        attempts = list_attempts(session, [delivery.id])[delivery.id]
    return LoggedDelivery(delivery=delivery, event=event, attempts=attempts)


def restart(session: Session, delivery_id: str, now: datetime) -> WebhookDelivery:
    """Let a delivery begin anew, with a fresh schedule of retries.

    Raises
    ------
    Conflict
        If it is being sent at this moment.
    """
    delivery = session.get_one(WebhookDelivery, delivery_id, with_for_update=True)
    if delivery.lease_until is not None and delivery.lease_until > now:
        raise Conflict("This delivery is being sent at this moment; look at its outcome first")
    delivery.status, delivery.attempts = DeliveryStatus.PENDING, 0
    delivery.next_attempt_at, delivery.delivered_at, delivery.lease_until = now, None, None
    return delivery


def get_event(resources: Resources, key: ApiKey, event_id: str) -> WebhookEvent:
    """Return one event of the vendor in the key's environment, also one that only tried a receiver.

    Raises
    ------
    NotFound
        If there is none with this id, or it is another vendor's, or of the other environment.
    Gone
        If it would be so old that it was archived.
    """
    query = select(WebhookEvent).where(*_select_mine(key), WebhookEvent.id == event_id)
    with resources.database.read() as session:
        found = session.scalar(query)
        if found is None:
            refuse_archived(session, event_id, "read the order that it was about")
            raise NotFound("There is no event with this id")
    return found


def list_events(
    resources: Resources,
    key: ApiKey,
    *,
    since: str | None,
    cursor: str | None,
    type: str | None,
    payment_order_id: str | None,
    limit: int,
    env_mode: EnvMode | None,
) -> EventPage:
    """Return events of the vendor in the key's environment, whether or not a webhook heard of them.

    Parameters
    ----------
    since : str or None
        The id of an event, which is left out, or a moment in ISO 8601 with a time zone; None from the first event on.
    cursor : str or None
        `next_cursor` of the page before, for the next page of the same list.
    type : str or None
        Of the events; all types without it.
    payment_order_id : str or None
        Of the order that they are about; those of all orders, and of transfers without one, without it.

    Raises
    ------
    InvalidData
        If there is no event with the id of `since`, or of `cursor`.
    """
    if env_mode is not None:
        key.require_env(env_mode)
    last = find_last_settled(resources.database, key.vendor_id, key.env_mode)
    with resources.database.read() as session:
        mine = select_owned_events(key)
        wanted = [*mine, WebhookEvent.seq <= last]
        if type is not None:
            wanted.append(WebhookEvent.type == type)
        if payment_order_id is not None:
            wanted.append(WebhookEvent.order_id == payment_order_id)
        faults = Faults()
        for name, place in (("since", since), ("cursor", cursor)):
            if place is not None:
                with faults.gather():
                    wanted.append(find_place(session, mine, place, name))
        faults.refuse()
        found = session.scalars(select(WebhookEvent).where(*wanted).order_by(WebhookEvent.seq).limit(limit + 1)).all()
    events = found[:limit]
    next_cursor = events[-1].id if events else cursor or since
    return EventPage(events=events, next_cursor=next_cursor, has_more=len(found) > limit)


def _select_mine(key: ApiKey) -> tuple[ColumnElement[bool], ...]:
    return (WebhookEvent.vendor_id == key.vendor_id, WebhookEvent.env_mode == key.env_mode)


def _find_after(session: Session, mine: Sequence[ColumnElement[bool]], event_id: str, path: str) -> ColumnElement[bool]:
    seq = session.scalar(select(WebhookEvent.seq).where(*mine, WebhookEvent.id == event_id))
    if seq is None:
        horizon = find_horizon(session)
        remedy = f"; those before {format_time(horizon)} may be archived: give that moment" if horizon else ""
        raise InvalidData.at(path, f"There is no event with this id{remedy}")
    return WebhookEvent.seq > seq


def select_owned_events(key: ApiKey) -> tuple[ColumnElement[bool], ...]:
    """Say which events are the vendor's in the key's environment; test events are none."""
    is_about_something = or_(WebhookEvent.order_id.is_not(None), WebhookEvent.transfer_id.is_not(None))
    return (*_select_mine(key), is_about_something)


def find_place(session: Session, mine: Sequence[ColumnElement[bool]], place: str, path: str) -> ColumnElement[bool]:
    """Say which events come after an event, by its id, or from a moment on, in ISO 8601 with a time zone.

    Parameters
    ----------
    path : str
        Which property of the request it is.

    Raises
    ------
    InvalidData
        If there is no such event.
    """
    at = parse_place(place)
    return WebhookEvent.created_at >= at if isinstance(at, datetime) else _find_after(session, mine, place, path)
