"""Webhook subscriptions: who wants to hear of a vendor's events, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from api.domain.audit import AuditAction
from api.domain.env import EnvMode
from api.domain.errors import Conflict, Forbidden, InvalidData, NotFound, Problem
from api.domain.events import DEFAULT_TYPES, EventType
from api.domain.ids import IdPrefix, make_id
from api.net.addresses import Reach
from api.net.resolver import ResolutionFailed
from api.net.targets import TargetRefused, parse_target, require_reachable
from api.services.chains.waiting_room import NoPlace
from api.services.resources import Resources
from api.services.vendors.api_keys import ApiKey
from api.services.vendors.key_management import lock_vendor
from api.services.webhooks.audited import describe_subscription, record_webhook_change
from api.services.webhooks.outbox import NewEvent, publish_to
from api.services.webhooks.outcomes import DISABLED_BECAUSE, cancel_pending
from api.services.webhooks.samples import make_sample
from api.services.webhooks.secrets import add_secret, forget_secrets
from api.storage.tables import WebhookSubscription

MAX_SUBSCRIPTIONS = 100
LOOKUP_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WithSecret:
    """A subscription with its new secret, which is shown this once; `twins` are those with the same address."""

    id: str
    url: str
    env_mode: str
    events: list[str]
    disabled_at: datetime | None
    disabled_reason: str | None
    failing_since: datetime | None
    created_at: datetime
    updated_at: datetime
    secret: str = field(repr=False)
    twins: tuple[str, ...] = ()

    @classmethod
    def of(cls, subscription: WebhookSubscription, secret: str, twins: Sequence[str] = ()) -> Self:
        """Put both together."""
        return cls(
            id=subscription.id,
            url=subscription.url,
            env_mode=subscription.env_mode,
            events=subscription.events,
            disabled_at=subscription.disabled_at,
            disabled_reason=subscription.disabled_reason,
            failing_since=subscription.failing_since,
            created_at=subscription.created_at,
            updated_at=subscription.updated_at,
            secret=secret,
            twins=tuple(twins),
        )


def register(
    resources: Resources, key: ApiKey, url: str, env_mode: EnvMode | None, types: Sequence[EventType] = DEFAULT_TYPES
) -> WithSecret:
    """Make a subscription; the environment is `live` unless another is given.

    Parameters
    ----------
    types : sequence of EventType
        What it is told of.

    Raises
    ------
    Forbidden
        If the key is of the other environment.
    InvalidData
        If events must not be sent to the URL.
    Conflict
        If the vendor has too many.
    """
    _require_env(key, env_mode)
    check_url(resources, url, key)
    now = resources.clock.now()
    subscription = WebhookSubscription(
        id=make_id(IdPrefix.SUBSCRIPTION, now),
        vendor_id=key.vendor_id,
        url=url,
        env_mode=key.env_mode,
        events=list(types),
        created_at=now,
        updated_at=now,
    )
    with resources.database.write(by=key.key_id) as session:
        lock_vendor(session, key.vendor_id)
        count = session.scalar(select(func.count()).where(*_select_owned(key)).select_from(WebhookSubscription))
        if (count or 0) >= MAX_SUBSCRIPTIONS:
            raise Conflict(f"There are {count} webhooks in {key.env_mode} mode already; delete one first")
        same = session.scalars(
            select(WebhookSubscription.id).where(*_select_owned(key), WebhookSubscription.url == url)
        )
        twins = same.all()
        session.add(subscription)
        session.flush()
        secret = add_secret(session, resources.box, subscription.id, now)
        after = describe_subscription(subscription)
        record_webhook_change(session, AuditAction.WEBHOOK_CREATED, subscription, now, after=after)
    return WithSecret.of(subscription, secret, twins)


def list_subscriptions(resources: Resources, key: ApiKey, env_mode: EnvMode | None) -> Sequence[WebhookSubscription]:
    """Return the vendor's subscriptions in the key's environment, oldest first."""
    if env_mode is not None:
        key.require_env(env_mode)
    with resources.database.read() as session:
        return session.scalars(
            select(WebhookSubscription).where(*_select_owned(key)).order_by(WebhookSubscription.id)
        ).all()


def delete_subscription(resources: Resources, key: ApiKey, subscription_id: str) -> WebhookSubscription:
    """Send nothing more to a subscription, not even what is waiting."""
    now = resources.clock.now()
    with resources.database.write(by=key.key_id) as session:
        subscription = find_subscription(session, key, subscription_id, lock=True)
        before = describe_subscription(subscription)
        record_webhook_change(session, AuditAction.WEBHOOK_DELETED, subscription, now, before=before)
        subscription.deleted_at = subscription.updated_at = now
        session.flush()
        cancel_pending(session, subscription.id)
        forget_secrets(session, subscription.id)
    return subscription


def rotate_secret(resources: Resources, key: ApiKey, subscription_id: str) -> WithSecret:
    """Make a new secret; each one before it signs too, for a day after it was replaced."""
    now = resources.clock.now()
    with resources.database.write(by=key.key_id) as session:
        subscription = find_subscription(session, key, subscription_id, lock=True)
        subscription.updated_at = now
        record_webhook_change(session, AuditAction.WEBHOOK_SECRET_ROTATED, subscription, now)
        secret = add_secret(session, resources.box, subscription.id, now)
    return WithSecret.of(subscription, secret)


def send_test_event(resources: Resources, key: ApiKey, subscription_id: str, event_type: EventType) -> str:
    """Put an event about an order that does not exist into the outbox, for one subscription; return its id."""
    now = resources.clock.now()
    with resources.database.write() as session:
        subscription = find_subscription(session, key, subscription_id)
        require_active(subscription)
        event = NewEvent(
            vendor_id=key.vendor_id,
            env_mode=key.env_mode,
            order_id=None,
            type=event_type,
            created_at=now,
            data=make_sample(event_type, key.env_mode, now),
        )
        return publish_to(session, event, [subscription.id])


def find_subscription(
    session: Session, key: ApiKey, subscription_id: str, *, lock: bool = False
) -> WebhookSubscription:
    """Return one of the vendor's subscriptions.

    Raises
    ------
    NotFound
        If there is none with this id, or it is deleted, or another vendor's, or of the other environment.
    """
    statement = select(WebhookSubscription).where(WebhookSubscription.id == subscription_id, *_select_owned(key))
    found = session.scalar(statement.with_for_update(key_share=True) if lock else statement)
    if found is None:
        raise NotFound("There is no webhook with this id")
    return found


def require_active(subscription: WebhookSubscription) -> None:
    """Refuse to send to a subscription that is disabled.

    Raises
    ------
    Conflict
        If it is; the message says why and what to do.
    """
    if subscription.disabled_at is not None:
        reason = DISABLED_BECAUSE[subscription.disabled_reason or ""]
        raise Conflict(f"This webhook is disabled because {reason}; POST to its /enable address first")


def check_url(resources: Resources, url: str, key: ApiKey) -> None:
    """Refuse a URL to which no event of the key's environment may be sent.

    A host that cannot be looked up now is taken, or while others of the vendor's are: every delivery looks it up again,
    and checks what it finds.

    Raises
    ------
    InvalidData
        With the reason, at `webhook_url`.
    """
    if key.env_mode == EnvMode.LIVE and url.lower().startswith("http://"):
        raise InvalidData.at("webhook_url", "Plain http is for env_mode test only; use https")
    reach = Reach.of(resources.config, key.env_mode)
    try:
        target = parse_target(url, reach)
        if target.address is None:
            with resources.name_room.enter(key.vendor_id):
                addresses = resources.resolver.resolve(target.host, LOOKUP_S)
            for address in addresses:
                require_reachable(address, reach)
    except TargetRefused as refusal:
        raise InvalidData.at("webhook_url", str(refusal)) from None
    except (ResolutionFailed, NoPlace):
        return


def _require_env(key: ApiKey, env_mode: EnvMode | None) -> None:
    if env_mode is None and key.env_mode != EnvMode.LIVE:
        message = (
            'Without it a webhook is registered in live mode, and this is a test key: send "env_mode": "test", '
            "or use the vendor's live key"
        )
        raise Forbidden("The API key belongs to the other environment", Problem(path="env_mode", message=message))
    key.require_env(env_mode or EnvMode.LIVE)


def _select_owned(key: ApiKey) -> tuple[ColumnElement[bool], ...]:
    return (
        WebhookSubscription.vendor_id == key.vendor_id,
        WebhookSubscription.env_mode == key.env_mode,
        WebhookSubscription.deleted_at.is_(None),
    )
