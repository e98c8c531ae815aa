"""Payment orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import request

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.domain.order_filter import OrderFilter
from api.domain.scopes import Scope
from api.domain.simulation import Action
from api.schemas.orders.payments import OrderChangeSchema, OrderListAnswer, PaymentOrderAnswer, SimulateSchema
from api.schemas.orders.refunds import EXAMPLE, REFUND_EXAMPLE, CancelRefundSchema, NewRefundSchema
from api.schemas.orders.search import OrderListQuery
from api.services.idempotency import HEADER
from api.services.orders import commands
from api.services.orders.refunds import RefundRequest
from api.services.simulator.vendor_actions import Wish, simulate_for
from api.web.security import get_caller_key, key_required

blueprint = Blueprint("payments", __name__, url_prefix="/api/v1/payment", description="Payment orders")
PAGE = frozenset({"limit", "cursor"})
NOT_NOW = "The order's present state does not allow it"


@blueprint.get("", operation="listPaymentOrders")
@key_required(Scope.READ)
@blueprint.query(OrderListQuery)
@blueprint.answer(OrderListAnswer)
def index(query: dict[str, Any]) -> Mapping[str, Any]:
    """List the payment orders of the key's environment, newest first; with several filters those that have all.

    Moments have a time zone. What is `from` a moment includes it, what is `to` one does not.
    """
    key = get_caller_key()
    key.require_env(query.pop("env_mode", key.env_mode))
    page = {name: query.pop(name) for name in PAGE & query.keys()}
    return commands.list_orders(get_resources(), key.vendor_id, key.env_mode, OrderFilter(**query), **page)


@blueprint.get("/<order_id>", operation="getPaymentOrder")
@key_required(Scope.READ)
@blueprint.answer(PaymentOrderAnswer)
@blueprint.refusal(404, "No such order of this vendor in the key's environment")
def show(order_id: str) -> Mapping[str, Any]:
    """Read a payment order."""
    key = get_caller_key()
    return commands.get_order(get_resources(), key.vendor_id, key.env_mode, order_id)


@blueprint.patch("/<order_id>", operation="changePaymentOrder")
@key_required(Scope.ORDERS)
@blueprint.body(OrderChangeSchema, example={"metadata": {"cart": "7", "invoice": "2026-0042"}})
@blueprint.answer(PaymentOrderAnswer)
@blueprint.refusal(404, "No such order of this vendor in the key's environment")
def change(body: dict[str, Any], order_id: str) -> Mapping[str, Any]:
    """Put other metadata in the place of an order's, all of it, whatever the order's status.

    The order is found by the new entries at once. No event tells of it, events from before keep what they said, and
    `updated_at` stays. The same request again changes nothing.
    """
    key = get_caller_key()
    return commands.change_metadata(
        get_resources(), key.vendor_id, key.env_mode, order_id, body["metadata"], by=key.key_id
    )


@blueprint.post("/<order_id>/cancel", operation="cancelPaymentOrder")
@key_required(Scope.ORDERS)
@blueprint.answer(PaymentOrderAnswer)
@blueprint.refusal(409, NOT_NOW)
def cancel(order_id: str) -> Mapping[str, Any]:
    """Take back an order that has not been paid in full; what comes for it later can be sent back."""
    key = get_caller_key()
    return commands.cancel(get_resources(), key.vendor_id, key.env_mode, order_id)


@blueprint.post("/<order_id>/refund", operation="refundPaymentOrder")
@key_required(Scope.REFUNDS)
@blueprint.body(NewRefundSchema, example=EXAMPLE)
@blueprint.answer(PaymentOrderAnswer)
@blueprint.refusal(409, NOT_NOW)
def refund(body: dict[str, Any], order_id: str) -> Mapping[str, Any]:
    """Send some or all of what reached the merchant for an order back.

    `refunds` of the answer has each `transaction` that the merchant's own wallet has to sign; in test mode without
    chains that wallet signs by itself. The order becomes refunded, which closes it, once nothing is left of what came;
    until then an open order of which all goes back is not `payable` (`refund_under_way`). Send an `Idempotency-Key`
    with each refund: without one, a request like one that is under way counts as its repetition.
    """
    key = get_caller_key()
    asked = RefundRequest(**body, has_key=HEADER in request.headers)
    return commands.refund(get_resources(), key.vendor_id, key.env_mode, order_id, asked, by=key.key_id)


@blueprint.post("/<order_id>/cancel_refund", operation="cancelRefund")
@key_required(Scope.REFUNDS)
@blueprint.body(CancelRefundSchema, example={"refund": REFUND_EXAMPLE})
@blueprint.answer(PaymentOrderAnswer)
@blueprint.refusal(404, "No such order of this vendor in the key's environment, or no such refund of it")
@blueprint.refusal(409, "It was sent already, or too many refunds of the order are cancelled")
def cancel_refund(body: dict[str, Any], order_id: str) -> Mapping[str, Any]:
    """Cancel a refund that is not sent yet, or what is not sent of it: its money is left to be asked for again.

    Cancel only what your wallet has not sent, and delete its copies: a signed transaction can't be called back. Should
    one be mined after all, the refund says so, and no other one offers that money again.
    """
    key = get_caller_key()
    refund_id = body["refund"]
    return commands.cancel_refund(get_resources(), key.vendor_id, key.env_mode, order_id, refund_id, by=key.key_id)


@blueprint.post("/<order_id>/simulate", operation="simulatePaymentOrder")
@key_required(Scope.ORDERS)
@blueprint.body(SimulateSchema, example={"action": Action.PAY})
@blueprint.answer(PaymentOrderAnswer)
@blueprint.refusal(409, NOT_NOW)
def simulate(body: dict[str, Any], order_id: str) -> Mapping[str, Any]:
    """Let something happen to a test order, on the simulated chains.

    The answer shows the order as it is now; within seconds the service sees what happened, and moves the order on.
    `pay` for an order that is closed already rehearses `paid_after_close`. With `chain_id` and `token` it is paid in
    another token.
    """
    key, wish = get_caller_key(), Wish(**(body | {"action": Action(body["action"])}))
    return simulate_for(get_resources(), key.vendor_id, key.env_mode, order_id, wish)
