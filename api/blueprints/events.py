"""Events, for vendors who compare what their webhooks received with what happened."""

from __future__ import annotations

from typing import Any

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.domain.scopes import Scope
from api.schemas.webhooks.events import EventPageSchema, EventsQuery, ListedEventSchema
from api.services.webhooks.delivery_log import EventPage, get_event, list_events
from api.storage.tables import WebhookEvent
from api.web.security import get_caller_key, key_required

blueprint = Blueprint("events", __name__, url_prefix="/api/v1/events", description="Events, for reconciliation")


@blueprint.get("", operation="listEvents")
@key_required(Scope.READ)
@blueprint.query(EventsQuery)
@blueprint.answer(EventPageSchema)
def show_all(query: dict[str, Any]) -> EventPage:
    """List the events of the key's environment, oldest first, whether or not a webhook heard of them.

    All types are listed, also those that no subscription has. Events that only tried a receiver are not.
    """
    return list_events(get_resources(), get_caller_key(), **query)


@blueprint.get("/<event_id>", operation="getEvent")
@key_required(Scope.READ)
@blueprint.answer(ListedEventSchema)
@blueprint.refusal(404, "No such event of this vendor in the key's environment")
@blueprint.refusal(410, "An id so old that its event was archived")
def show(event_id: str) -> WebhookEvent:
    """Read an event: the very body that webhooks got."""
    return get_event(get_resources(), get_caller_key(), event_id)
