"""Transfers that reached a vendor and count for no order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.domain.scopes import Scope
from api.schemas.orders.payment_links import ORDER_EXAMPLE
from api.schemas.orders.payments import PaymentOrderAnswer
from api.schemas.orders.unmatched_transfers import AssignmentSchema, UnmatchedTransferListAnswer, UnmatchedTransferQuery
from api.services.orders.views import describe_orders
from api.services.settlement.crediting import unmatched_transfers
from api.web.security import get_caller_key, key_required

blueprint = Blueprint(
    "unmatched_transfers",
    __name__,
    url_prefix="/api/v1/unmatched_transfer",
    description="Transfers that reached the vendor and count for no order",
)


@blueprint.get("", operation="listUnmatchedTransfers")
@key_required(Scope.READ)
@blueprint.query(UnmatchedTransferQuery)
@blueprint.answer(UnmatchedTransferListAnswer)
def index(query: dict[str, Any]) -> Mapping[str, Any]:
    """List what reached the vendor's addresses in the key's environment and counts for no order, newest first.

    Such as a payment from an exchange, or one that was made without the page. A transfer leaves the list once it is
    assigned, or once its order is known by itself.
    """
    key = get_caller_key()
    key.require_env(query.pop("env_mode", key.env_mode))
    with get_resources().database.read_one_state() as session:
        data, cursor = unmatched_transfers.list_own(session, (key.vendor_id, key.env_mode), **query)
    return {"data": data, "next_cursor": cursor}


@blueprint.post("/<transfer_id>/assign", operation="assignUnmatchedTransfer")
@key_required(Scope.ORDERS)
@blueprint.body(AssignmentSchema, example={"payment_order_id": ORDER_EXAMPLE})
@blueprint.answer(PaymentOrderAnswer)
@blueprint.refusal(404, "No such transfer or order of this vendor in the key's environment")
@blueprint.refusal(409, "The transfer belongs to an order already, or its chain has lost it")
def assign(body: dict[str, str], transfer_id: str) -> Mapping[str, Any]:
    """Give a transfer to one of the vendor's orders, whatever the order's status.

    The answer shows the order as it is now. Within seconds the transfer has been checked once more, as its value and
    the order's price demand; then it counts. A closed order is credited: its `status_reason` becomes
    `paid_after_close`, and the money can be sent back. A refund of it needs `to`, since nobody knows who paid.
    """
    key, shared = get_caller_key(), get_resources()
    owner, order_id = (key.vendor_id, key.env_mode), body["payment_order_id"]
    with shared.database.write(by=key.key_id) as session:
        order = unmatched_transfers.assign(session, transfer_id, order_id, shared.clock.now(), owner)
        session.flush()
        return describe_orders(shared, session, [order])[0]
