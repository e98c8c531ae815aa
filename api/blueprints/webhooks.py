"""Webhook subscriptions and their deliveries."""

from __future__ import annotations

from typing import Any

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.domain.events import EventType
from api.domain.scopes import Scope
from api.schemas.webhooks import subscriptions as schemas
from api.schemas.webhooks.deliveries import DeliveriesQuery, DeliveryPageSchema, RedeliverySchema
from api.services.webhooks import delivery_log, missed, subscriptions
from api.services.webhooks.deliveries import DeliveryFilter, DeliveryPage, list_deliveries
from api.services.webhooks.subscription_changes import change_subscription, get_subscription
from api.web.security import get_caller_key, key_required

blueprint = Blueprint("webhooks", __name__, url_prefix="/api/v1", description="Webhook subscriptions and deliveries")
SUBSCRIPTIONS = "/webhook_subscription"
ONE = f"{SUBSCRIPTIONS}/<subscription_id>"
PAGE = frozenset({"limit", "cursor"})
DISABLED = "The subscription is disabled; enable it first"


@blueprint.post(SUBSCRIPTIONS, operation="createWebhookSubscription")
@key_required(Scope.WEBHOOKS)
@blueprint.body(schemas.NewSubscriptionSchema, example=schemas.EXAMPLE)
@blueprint.answer(schemas.RegisteredSchema)
@blueprint.refusal(409, "There are as many subscriptions as there may be; delete one first")
def create(body: dict[str, Any]) -> dict[str, Any]:
    """Register an address for the events of one environment; the secret is shown this once.

    Without `events` it hears of `payment_processing`, `payment_success` and `payment_failed`, and of no other type. An
    address may be registered again, such as for other types; `message` then says which webhooks have it already.
    """
    key = get_caller_key()
    data = subscriptions.register(get_resources(), key, body["webhook_url"], body["env_mode"], body["events"])
    message = f"Successfully registered webhook endpoint in {key.env_mode} mode for {key.vendor_name}."
    return {"message": message + _warn_of_twins(data.twins), "data": data}


@blueprint.get(SUBSCRIPTIONS, operation="listWebhookSubscriptions")
@key_required(Scope.WEBHOOKS)
@blueprint.query(schemas.EnvModeQuery)
@blueprint.answer(schemas.SubscriptionListSchema)
def show_all(query: dict[str, Any]) -> dict[str, Any]:
    """List the subscriptions of the key's environment."""
    return {"data": subscriptions.list_subscriptions(get_resources(), get_caller_key(), query["env_mode"])}


@blueprint.get(ONE, operation="getWebhookSubscription")
@key_required(Scope.WEBHOOKS)
@blueprint.answer(schemas.FoundSubscriptionSchema)
def show(subscription_id: str) -> dict[str, Any]:
    """Read a subscription; its secret is not shown."""
    return {"data": get_subscription(get_resources(), get_caller_key(), subscription_id)}


@blueprint.patch(ONE, operation="changeWebhookSubscription")
@key_required(Scope.WEBHOOKS)
@blueprint.body(schemas.SubscriptionChangeSchema, example={"events": [EventType.SUCCESS, EventType.REFUNDED]})
@blueprint.answer(schemas.ChangedSchema)
def change(body: dict[str, Any], subscription_id: str) -> dict[str, Any]:
    """Change the address or the types of events; what is not named stays, and so does the secret.

    Events that are waiting go to the new address. Whether an event is sent follows the types at its moment.
    """
    url, types = body.get("webhook_url"), body.get("events")
    data = change_subscription(get_resources(), get_caller_key(), subscription_id, url=url, types=types)
    return {"message": "The webhook is as it should be.", "data": data}


@blueprint.delete(ONE, operation="deleteWebhookSubscription")
@key_required(Scope.WEBHOOKS)
@blueprint.answer(schemas.MessageSchema)
def delete(subscription_id: str) -> dict[str, Any]:
    """Delete a subscription; what was not delivered yet is given up."""
    key = get_caller_key()
    subscriptions.delete_subscription(get_resources(), key, subscription_id)
    message = f"Successfully deleted webhook endpoint in {key.env_mode} mode for {key.vendor_name}."
    return {"message": message}


@blueprint.post(f"{ONE}/test", operation="testWebhookSubscription")
@key_required(Scope.WEBHOOKS)
@blueprint.body(schemas.SampleEventSchema, example={"type": EventType.SUCCESS})
@blueprint.answer(schemas.SentTestSchema)
@blueprint.refusal(409, DISABLED)
def send_test(body: dict[str, Any], subscription_id: str) -> dict[str, Any]:
    """Send an event as real ones of its type are, about an order that does not exist; its metadata says so."""
    event_id = subscriptions.send_test_event(get_resources(), get_caller_key(), subscription_id, body["type"])
    message = "A test event is on its way; the subscription's deliveries show what comes of it."
    return {"message": message, "data": {"event_id": event_id}}


@blueprint.post(f"{ONE}/rotate_secret", operation="rotateWebhookSecret")
@key_required(Scope.WEBHOOKS)
@blueprint.answer(schemas.RegisteredSchema)
@blueprint.refusal(409, "It has had as many secrets within 24 hours as it may; wait")
def rotate_secret(subscription_id: str) -> dict[str, Any]:
    """Make a new secret; for 24 hours deliveries are signed with both."""
    data = subscriptions.rotate_secret(get_resources(), get_caller_key(), subscription_id)
    return {"message": "The webhook has a new secret; the one before signs too for 24 hours.", "data": data}


@blueprint.post(f"{ONE}/enable", operation="enableWebhookSubscription")
@key_required(Scope.WEBHOOKS)
@blueprint.answer(schemas.EnabledSchema)
def enable(subscription_id: str) -> dict[str, Any]:
    """Send new events to a subscription that was disabled; another request sends those of the meantime."""
    enabled = missed.enable(get_resources(), get_caller_key(), subscription_id)
    message = "The webhook is active."
    if enabled.missed_since is not None:
        message = "The webhook is active; POST missed_since as since to its /redeliver_missed address to get the rest."
    return {"message": message, "data": enabled.subscription, "missed_since": enabled.missed_since}


@blueprint.post(f"{ONE}/redeliver_missed", operation="redeliverMissedEvents")
@key_required(Scope.WEBHOOKS)
@blueprint.body(schemas.MissedSchema, example={"since": "2026-03-01T12:00:00Z"})
@blueprint.answer(schemas.RedeliveredSchema)
@blueprint.refusal(409, "The subscription is disabled")
def redeliver_missed(body: dict[str, Any], subscription_id: str) -> dict[str, Any]:
    """Send every event since a moment that a subscription did not get, also what waits for another try; same ids."""
    data = missed.redeliver_missed(get_resources(), get_caller_key(), subscription_id, **body)
    return {"message": f"{len(data.event_ids)} events are on their way.", "data": data}


@blueprint.get(f"{ONE}/deliveries", operation="listWebhookDeliveries")
@key_required(Scope.WEBHOOKS)
@blueprint.query(DeliveriesQuery)
@blueprint.answer(DeliveryPageSchema)
def deliveries(query: dict[str, Any], subscription_id: str) -> DeliveryPage:
    """Show what was sent to a subscription and what came of it, newest first; of several filters what has all."""
    page = {name: query.pop(name) for name in PAGE}
    return list_deliveries(get_resources(), get_caller_key(), subscription_id, DeliveryFilter(**query), **page)


@blueprint.post("/webhook_delivery/<delivery_id>/redeliver", operation="redeliverWebhookDelivery")
@key_required(Scope.WEBHOOKS)
@blueprint.answer(RedeliverySchema)
@blueprint.refusal(409, "The subscription is disabled, or the delivery is being sent at this moment")
@blueprint.refusal(410, "An id so old that its delivery was archived")
def redeliver(delivery_id: str) -> dict[str, Any]:
    """Send an event to a subscription again, with the same id."""
    data = delivery_log.redeliver(get_resources(), get_caller_key(), delivery_id)
    return {"message": "The event is on its way again.", "data": data}


def _warn_of_twins(twins: tuple[str, ...]) -> str:
    """Say that an address has webhooks already, each of which sends it the events that both name."""
    return (
        f" {', '.join(twins)} has this address too: it gets the events that both name once from each." if twins else ""
    )
