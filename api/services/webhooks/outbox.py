"""The outbox: an event and its deliveries, written in the transaction that made them true."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import bindparam, select

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.ids import IdPrefix, make_id
from api.services.webhooks.numbering import number_lock
from api.storage.rows import NewRow, insert_rows
from api.storage.statements import Place, Statement
from api.storage.tables import WebhookDelivery, WebhookEvent, WebhookSubscription

_SUBSCRIPTION = WebhookSubscription.__table__.c
ACTIVE = (
    _SUBSCRIPTION.vendor_id == bindparam("vendor_id"),
    _SUBSCRIPTION.env_mode == bindparam("env_mode"),
    _SUBSCRIPTION.deleted_at.is_(None),
    _SUBSCRIPTION.disabled_at.is_(None),
)
"""Conditions of a vendor's subscriptions that hear of events."""
_ACTIVE = Statement(select(_SUBSCRIPTION.id, _SUBSCRIPTION.events).where(*ACTIVE))


class DeliveryStatus(StrEnum):
    """Where a delivery stands."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """Something that happened to an order or to a transfer, as its vendor is told.

    Parameters
    ----------
    order_id : str or None
        None where it is about no order.
    transfer_id : str or None
        Of a transfer that belongs to no order. An event about neither is one that a vendor asked for to try its
        receiver.
    type : str
        One of `EventType`.
    created_at : datetime
        Aware.
    data : mapping
        JSON values; `event.data` of the payload.
    """

    vendor_id: str
    env_mode: EnvMode
    order_id: str | None
    type: str
    created_at: datetime
    data: Mapping[str, Any]
    transfer_id: str | None = None


def publish(place: Place, event: NewEvent) -> str:
    """Write an event, and a delivery for each active subscription of its vendor and environment to its type.

    Nothing is sent before the caller's transaction commits, and nothing is lost after.

    Returns
    -------
    str
        The event's id.
    """
    active = _ACTIVE.fetch(place, {"vendor_id": event.vendor_id, "env_mode": event.env_mode})
    return publish_to(place, event, choose_subscriptions(event, active))


def choose_subscriptions(event: NewEvent, active: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Return which of these subscriptions, each with the types that it hears of, hear of an event."""
    return [subscription_id for subscription_id, types in active if event.type in types]


def publish_to(place: Place, event: NewEvent, subscription_ids: Iterable[str]) -> str:
    """Write an event and a delivery for each of these subscriptions; return the event's id."""
    rows = make_rows(event, subscription_ids)
    insert_rows(place, rows)
    return str(rows[0].given["id"])


def make_rows(event: NewEvent, subscription_ids: Iterable[str]) -> list[NewRow]:
    """Make the row of an event, and behind it one of a delivery for each of these subscriptions."""
    event_id = make_id(IdPrefix.EVENT, event.created_at)
    given = {
        "id": event_id,
        "vendor_id": event.vendor_id,
        "order_id": event.order_id,
        "transfer_id": event.transfer_id,
        "type": event.type,
        "env_mode": event.env_mode,
        "payload": write_payload(event),
        "created_at": event.created_at,
    }
    told = NewRow(table=WebhookEvent, given=given, lock=number_lock(event.vendor_id, event.env_mode))
    return [told, *(_make_delivery(event_id, each, event.created_at) for each in subscription_ids)]


def _make_delivery(event_id: str, subscription_id: str, at: datetime) -> NewRow:
    given = {
        "id": make_id(IdPrefix.DELIVERY, at),
        "event_id": event_id,
        "subscription_id": subscription_id,
        "status": DeliveryStatus.PENDING,
        "attempts": 0,
        "next_attempt_at": at,
        "created_at": at,
    }
    return NewRow(table=WebhookDelivery, given=given)


def write_payload(event: NewEvent) -> str:
    """Write the body that is sent and signed."""
    content = {
        "resource": "event",
        "type": event.type,
        "created_at": format_time(event.created_at),
        "env_mode": event.env_mode,
        "data": dict(event.data),
    }
    return json.dumps({"event": content}, ensure_ascii=False, separators=(",", ":"))
