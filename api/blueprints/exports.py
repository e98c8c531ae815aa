"""Payment orders and transfers as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from flask import Response

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.domain.env import EnvMode
from api.domain.errors import TooManyRequests
from api.domain.order_filter import OrderFilter
from api.domain.scopes import Scope
from api.domain.transfer_filter import TransferFilter
from api.domain.turns import end_after
from api.schemas.orders.search import OrderSearchQuery, TransferExportQuery
from api.services.orders.export import COLUMNS, export_orders
from api.services.resources import Resources
from api.services.settlement.transfer_export import COLUMNS as TRANSFER_COLUMNS
from api.services.settlement.transfer_export import export_transfers
from api.web.security import get_caller_key, key_required

PATHS = ("/api/v1/payment.csv", "/api/v1/transfer.csv")
CONTENT_TYPE = "text/csv"
RETRY_S = 10
BUSY = "An export of this vendor is under way, or the rate limit is reached"

blueprint = Blueprint("exports", __name__, description="Payment orders and transfers as files")


def _show(columns: tuple[str, ...]) -> str:
    return ",".join(f'"{name}"' for name in columns) + "\r\n"


@blueprint.get(PATHS[0], operation="exportPaymentOrders")
@key_required(Scope.READ)
@blueprint.query(OrderSearchQuery)
@blueprint.answer(
    {"type": "string"},
    content_type=CONTENT_TYPE,
    example=_show(COLUMNS),
    description="A header, and a line for each order",
)
@blueprint.refusal(429, BUSY)
def export(query: dict[str, Any]) -> Response:
    """Download all payment orders that the list of `GET /api/v1/payment` has for the same filters, newest first.

    UTF-8, RFC 4180, every cell in quotes. Amounts are in smallest units, and in whole ones under the same name with
    `_decimal`; both are exact. `metadata` is JSON. Columns are named as properties of the order are, with `_` for the
    dot. But `price_currency` and `price_amount` are those of its `order_price`, and `settlement_token` is its
    `settlement.token_symbol`. `payers` has whose money came, with spaces between, and `amount_refunded` what of it
    went back for good in that token: an order has both in `transfers` and `refunds` alone. Text that a spreadsheet
    would take for a formula begins with an apostrophe. Orders that are made while the file is read are not in it. A
    connection that ends before the file does was cut off: ask again.
    """

    def write(resources: Resources, vendor_id: str, env_mode: EnvMode) -> Iterator[str]:
        return export_orders(resources, vendor_id, env_mode, OrderFilter(**query))

    return _send_file(query, "payments.csv", write)


@blueprint.get(PATHS[1], operation="exportTransfers")
@key_required(Scope.READ)
@blueprint.query(TransferExportQuery)
@blueprint.answer(
    {"type": "string"},
    content_type=CONTENT_TYPE,
    example=_show(TRANSFER_COLUMNS),
    description="A header, and a line for each transfer",
)
@blueprint.refusal(429, BUSY)
def export_each_transfer(query: dict[str, Any]) -> Response:
    """Download every transfer that reached the merchant, and every refund, oldest first.

    One line for each: `kind` is `payment`, `refund`, or `unmatched` where it belongs to no order and
    `payment_order_id` is empty. All tokens are there, `is_settlement_token` says whether it is the one that the order
    asked for. `amount` is in smallest units, `amount_decimal` in whole ones; both are exact, and never negative.
    `status` is `final` once no chain takes it back. `payer` is whose money it was or who gets it back. What a bridge
    delivered has the deposit in `source_chain_id` and `source_transaction_hash`. `refund_note` is what you noted of a
    refund. What a chain has lost is left out. The file is written as that of `GET /api/v1/payment.csv` is.
    """

    def write(resources: Resources, vendor_id: str, env_mode: EnvMode) -> Iterator[str]:
        return export_transfers(resources, (vendor_id, env_mode), TransferFilter(**query))

    return _send_file(query, "transfers.csv", write)


def _send_file(query: dict[str, Any], name: str, write: Callable[[Resources, str, EnvMode], Iterator[str]]) -> Response:
    """Send what `write` yields, while no other export of the vendor is under way; takes `env_mode` out of `query`."""
    key, shared = get_caller_key(), get_resources()
    key.require_env(query.pop("env_mode", key.env_mode))
    end = shared.exports.take((key.vendor_id, key.env_mode))
    if end is None:
        raise TooManyRequests("An export of this vendor is under way; wait for its end", retry_after_s=RETRY_S)
    lines = write(shared, key.vendor_id, key.env_mode)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    response = Response(end_after(lines, end), mimetype=CONTENT_TYPE, headers=headers)
    response.call_on_close(end)  # where nothing was read at all
    return response
