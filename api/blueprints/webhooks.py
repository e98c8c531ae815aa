"""Webhook subscriptions and their deliveries."""

from __future__ import annotations

from typing import Any

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.domain.events import EventType
from api.domain.scopes import Scope
from api.schemas import webhooks as schemas
from api.security import get_caller_key, key_required
from api.services.webhooks import delivery_log, subscriptions
from api.services.webhooks.delivery_log import DeliveryPage

blueprint = Blueprint("webhooks", __name__, url_prefix="/api/v1", description="Webhook subscriptions and deliveries")
SUBSCRIPTIONS = "/webhook_subscription"
ONE = f"{SUBSCRIPTIONS}/<subscription_id>"


@blueprint.post(SUBSCRIPTIONS, operation="createWebhookSubscription")
@key_required(Scope.WEBHOOKS)
@blueprint.body(schemas.NewSubscriptionSchema, example=schemas.EXAMPLE)
@blueprint.answer(schemas.RegisteredSchema)
def create(body: dict[str, Any]) -> dict[str, Any]:
    """Register an address for the events of one environment; the secret is shown this once."""
    key = get_caller_key()
    data = subscriptions.register(get_resources(), key, body["webhook_url"], body["env_mode"])
    message = f"Successfully registered webhook endpoint in {key.env_mode} mode for {key.vendor_name}."
    return {"message": message, "data": data}


@blueprint.get(SUBSCRIPTIONS, operation="listWebhookSubscriptions")
@key_required(Scope.WEBHOOKS)
@blueprint.query(schemas.EnvModeQuery)
@blueprint.answer(schemas.SubscriptionListSchema)
def show_all(query: dict[str, Any]) -> dict[str, Any]:
    """List the subscriptions of the key's environment."""
    return {"data": subscriptions.list_subscriptions(get_resources(), get_caller_key(), query["env_mode"])}


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
def send_test(body: dict[str, Any], subscription_id: str) -> dict[str, Any]:
    """Send an event about an order that does not exist, marked as a test in its metadata."""
    event_id = subscriptions.send_test_event(get_resources(), get_caller_key(), subscription_id, body["type"])
    message = "A test event is on its way; the subscription's deliveries show what comes of it."
    return {"message": message, "data": {"event_id": event_id}}


@blueprint.post(f"{ONE}/rotate_secret", operation="rotateWebhookSecret")
@key_required(Scope.WEBHOOKS)
@blueprint.answer(schemas.RegisteredSchema)
def rotate_secret(subscription_id: str) -> dict[str, Any]:
    """Make a new secret; for 24 hours deliveries are signed with both."""
    data = subscriptions.rotate_secret(get_resources(), get_caller_key(), subscription_id)
    return {"message": "The webhook has a new secret; the one before signs too for 24 hours.", "data": data}


@blueprint.post(f"{ONE}/enable", operation="enableWebhookSubscription")
@key_required(Scope.WEBHOOKS)
@blueprint.answer(schemas.ChangedSchema)
def enable(subscription_id: str) -> dict[str, Any]:
    """Send new events to a subscription that was disabled."""
    data = subscriptions.enable(get_resources(), get_caller_key(), subscription_id)
    return {"message": "The webhook is active; events of the meantime can be redelivered.", "data": data}


@blueprint.get(f"{ONE}/deliveries", operation="listWebhookDeliveries")
@key_required(Scope.WEBHOOKS)
@blueprint.query(schemas.PageQuery)
@blueprint.answer(schemas.DeliveryPageSchema)
def deliveries(query: dict[str, Any], subscription_id: str) -> DeliveryPage:
    """Show what was sent to a subscription and what came of it, newest first."""
    return delivery_log.list_deliveries(get_resources(), get_caller_key(), subscription_id, **query)


@blueprint.post("/webhook_delivery/<delivery_id>/redeliver", operation="redeliverWebhookDelivery")
@key_required(Scope.WEBHOOKS)
@blueprint.answer(schemas.RedeliverySchema)
def redeliver(delivery_id: str) -> dict[str, Any]:
    """Send an event to a subscription again, with the same id."""
    data = delivery_log.redeliver(get_resources(), get_caller_key(), delivery_id)
    return {"message": "The event is on its way again.", "data": data}
