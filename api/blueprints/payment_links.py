"""Payment links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.domain.scopes import Scope
from api.schemas.orders.payment_links import EXAMPLE, NewPaymentLinkSchema, PaymentLinkAnswer
from api.services.orders.creation import NewLink, create_link
from api.web.security import get_caller_key, key_required

blueprint = Blueprint(
    "payment_links", __name__, url_prefix="/api/v1/payment_link", description="Ask a customer for money"
)


@blueprint.post("", operation="createPaymentLink")
@key_required(Scope.ORDERS)
@blueprint.body(NewPaymentLinkSchema, example=EXAMPLE)
@blueprint.answer(PaymentLinkAnswer)
def create(link: dict[str, Any]) -> Mapping[str, Any]:
    """Create a payment order and get the URL to send the customer to."""
    key = get_caller_key()
    key.require_env(link["env_mode"])
    return create_link(get_resources(), key.vendor_id, NewLink(**link))
