"""Payment orders as a file."""

from __future__ import annotations

from typing import Any

from flask import Response

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.domain.errors import TooManyRequests
from api.domain.order_filter import OrderFilter
from api.domain.scopes import Scope
from api.domain.turns import end_after
from api.schemas.order_search import OrderSearchQuery
from api.services.orders.export import COLUMNS, export_orders
from api.web.security import get_caller_key, key_required

PATH = "/api/v1/payment.csv"
CONTENT_TYPE = "text/csv"
ATTACHMENT = {"Content-Disposition": 'attachment; filename="payments.csv"'}
RETRY_S = 10
EXAMPLE = ",".join(f'"{name}"' for name in COLUMNS) + "\r\n"

blueprint = Blueprint("order_export", __name__, description="Payment orders as a file")


@blueprint.get(PATH, operation="exportPaymentOrders")
@key_required(Scope.READ)
@blueprint.query(OrderSearchQuery)
@blueprint.answer(
    {"type": "string"}, content_type=CONTENT_TYPE, example=EXAMPLE, description="A header, and a line for each order"
)
@blueprint.refusal(429, "An export of this vendor is under way, or the rate limit is reached")
def export(query: dict[str, Any]) -> Response:
    """Download all payment orders that the list of `GET /api/v1/payment` has for the same filters, newest first.

    UTF-8, RFC 4180, every cell in quotes. Amounts are in smallest units, and in whole ones under the same name with
    `_decimal`; both are exact. `metadata` is JSON. Text that a spreadsheet would take for a formula begins with an
    apostrophe. Orders that are made while the file is read are not in it. A connection that ends before the file does
    was cut off: ask again.
    """
    key, shared = get_caller_key(), get_resources()
    key.require_env(query.pop("env_mode", key.env_mode))
    end = shared.exports.take((key.vendor_id, key.env_mode))
    if end is None:
        raise TooManyRequests("An export of this vendor is under way; wait for its end", retry_after_s=RETRY_S)
    lines = export_orders(shared, key.vendor_id, key.env_mode, OrderFilter(**query))
    response = Response(end_after(lines, end), mimetype=CONTENT_TYPE, headers=ATTACHMENT)
    response.call_on_close(end)  # where nothing was read at all
    return response
