"""Which deliveries are due: by subscription, so that who has many of them hides nobody else's."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import CTE, ColumnElement, and_, bindparam, func, literal_column, or_, select, update
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.ids import ALPHABET
from api.services.webhooks.in_flight import DueDelivery, Waiting
from api.services.webhooks.outbox import DeliveryStatus
from api.storage.statements import Place, Statement
from api.storage.tables import WebhookDelivery, WebhookEvent, WebhookSubscription

PARTS = 4
"""How many workers can send at the same time. A subscription is one worker's, so that its events keep their order."""

LOOK = 16
"""How many of a subscription's oldest are looked at, as some have to wait for others."""

FEW = 64
"""From so many deliveries on that are due, subscriptions are gone through instead."""

PENDING = WebhookDelivery.status == literal_column(f"'{DeliveryStatus.PENDING}'")
"""Written out: a database uses an index of some rows only if the query says by itself that it asks for those."""

IS_DUE = and_(
    PENDING,
    WebhookDelivery.next_attempt_at <= bindparam("now"),
    or_(WebhookDelivery.lease_until.is_(None), WebhookDelivery.lease_until <= bindparam("now")),
)
"""Holds for deliveries that are due and that nobody is sending."""

_SOME_DUE = select(WebhookDelivery.subscription_id).where(IS_DUE).order_by(WebhookDelivery.next_attempt_at).limit(FEW)
_LIST_SOME_DUE = Statement(_SOME_DUE)

# Two workers may ask at once. PostgreSQL locks the rows and skips locked ones; SQLite ignores the clause, and needs
# none: the transaction has begun as the only writer.
_LOCK_DUE = Statement(
    select(WebhookDelivery.id, WebhookEvent.order_id)
    .join(WebhookEvent, WebhookEvent.id == WebhookDelivery.event_id)
    .where(WebhookDelivery.subscription_id == bindparam("name"), IS_DUE)
    .order_by(WebhookDelivery.next_attempt_at, WebhookEvent.seq)
    .limit(LOOK)
    .with_for_update(of=WebhookDelivery, skip_locked=True)
)


def select_part(part: int) -> ColumnElement[bool]:
    """Return what holds for the subscriptions of a part: the last letter of an id is chance."""
    name = WebhookSubscription.id
    letter = func.substr(name, func.length(name))
    if part == 0:  # and whatever an id might end with one day
        return letter.not_in([_write(each) for number in range(1, PARTS) for each in ALPHABET[number::PARTS]])
    return letter.in_([*map(_write, ALPHABET[part::PARTS])])


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingQueries:
    """How the subscriptions are found that have something due.

    Parameters
    ----------
    few : Statement
        By what is due, where that is little: what is pending and not due costs nothing.
    many : Statement
        By the subscriptions with something pending, one after the other: the many deliveries of one cost nothing.
    """

    few: Statement
    many: Statement


def select_waiting(mine: ColumnElement[bool]) -> WaitingQueries:
    """Return the queries for those of the subscriptions that are `mine`."""
    name = WebhookDelivery.subscription_id
    due = _SOME_DUE.subquery()
    few = select(due.c.subscription_id.label("id")).distinct().cte("found")
    many = select(func.min(name).label("id")).where(PENDING).cte("found", recursive=True)
    after = select(func.min(name)).where(PENDING, name > many.c.id).scalar_subquery()
    many = many.union_all(select(after).where(many.c.id.is_not(None)))
    return WaitingQueries(few=_describe(few, mine), many=_describe(many, mine))


def list_waiting(place: Place, queries: WaitingQueries, now: datetime) -> list[Waiting]:
    """List the subscriptions that have something due; locks nothing."""
    due = len(_LIST_SOME_DUE.fetch(place, {"now": now}))
    if not due:
        return []
    query = queries.few if due < FEW else queries.many
    return [
        Waiting(
            subscription_id=row.id,
            vendor_id=row.vendor_id,
            env_mode=EnvMode(row.env_mode),
            is_failing=row.failing_since is not None,
            is_gone=row.is_gone,
            since=row.since,
        )
        for row in query.fetch(place, {"now": now})
        if row.since is not None
    ]


def lock_due(session: Session, one: Waiting, now: datetime) -> list[DueDelivery]:
    """Lock and list a subscription's oldest deliveries that are due, without those that somebody else has locked."""
    name = one.subscription_id
    return [
        DueDelivery(delivery_id=row.id, vendor_id=one.vendor_id, subscription_id=name, order_id=row.order_id)
        for row in _LOCK_DUE.fetch(session, {"name": name, "now": now})
    ]


def cancel(session: Session, delivery_ids: Collection[str]) -> None:
    """Give these deliveries up."""
    values = {"status": DeliveryStatus.CANCELLED, "next_attempt_at": None}
    session.execute(update(WebhookDelivery).where(WebhookDelivery.id.in_(delivery_ids)).values(values))


def _describe(found: CTE, mine: ColumnElement[bool]) -> Statement:
    # Not `min`: where PostgreSQL thinks there are few, it reads them all for that.
    due_at = WebhookDelivery.next_attempt_at
    its_own = WebhookDelivery.subscription_id == found.c.id
    oldest = select(due_at).where(its_own, IS_DUE).order_by(due_at).limit(1).scalar_subquery()
    gone = or_(WebhookSubscription.deleted_at.is_not(None), WebhookSubscription.disabled_at.is_not(None))
    return Statement(
        select(
            WebhookSubscription.id,
            WebhookSubscription.vendor_id,
            WebhookSubscription.env_mode,
            WebhookSubscription.failing_since,
            gone.label("is_gone"),
            oldest.label("since"),
        )
        .join_from(found, WebhookSubscription, WebhookSubscription.id == found.c.id)
        .where(mine)
    )


def _write(letter: str) -> ColumnElement[str]:
    return literal_column(f"'{letter}'")
