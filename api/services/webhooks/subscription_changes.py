"""Read one webhook subscription, and change where and of what it is told."""

from __future__ import annotations

from collections.abc import Sequence

from api.domain.audit import AuditAction
from api.domain.events import EventType
from api.services.resources import Resources
from api.services.vendors.api_keys import ApiKey
from api.services.webhooks.audited import describe_subscription, record_webhook_change
from api.services.webhooks.subscriptions import check_url, find_subscription
from api.storage.tables import WebhookSubscription


def get_subscription(resources: Resources, key: ApiKey, subscription_id: str) -> WebhookSubscription:
    """Return one of the vendor's subscriptions in the key's environment."""
    with resources.database.read() as session:
        return find_subscription(session, key, subscription_id)


def change_subscription(
    resources: Resources, key: ApiKey, subscription_id: str, *, url: str | None, types: Sequence[EventType] | None
) -> WebhookSubscription:
    """Send a subscription's events elsewhere, or others than before; what is None stays.

    What is waiting goes to the new address. An address that is new has not failed yet; a subscription that is disabled
    stays so.

    Raises
    ------
    InvalidData
        If events must not be sent to the URL.
    """
    if url is not None:
        check_url(resources, url, key)
    now = resources.clock.now()
    with resources.database.write(by=key.key_id) as session:
        subscription = find_subscription(session, key, subscription_id, lock=True)
        before = describe_subscription(subscription)
        if url not in (None, subscription.url):
            subscription.url, subscription.failing_since, subscription.updated_at = url or "", None, now
        if types is not None and list(types) != subscription.events:
            subscription.events, subscription.updated_at = list(types), now
        if before != (after := describe_subscription(subscription)):
            record_webhook_change(session, AuditAction.WEBHOOK_CHANGED, subscription, now, before=before, after=after)
    return subscription
