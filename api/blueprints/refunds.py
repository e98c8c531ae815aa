"""Refunds of all orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.domain.refund_filter import RefundFilter
from api.domain.scopes import Scope
from api.schemas.orders.refunds import RefundListAnswer
from api.schemas.orders.search import RefundListQuery
from api.services.orders.refund_list import list_refunds
from api.web.security import get_caller_key, key_required

blueprint = Blueprint("refunds", __name__, url_prefix="/api/v1/refund", description="Refunds of all orders")
PAGE = frozenset({"limit", "cursor"})


@blueprint.get("", operation="listRefunds")
@key_required(Scope.READ)
@blueprint.query(RefundListQuery)
@blueprint.answer(RefundListAnswer)
def index(query: dict[str, Any]) -> Mapping[str, Any]:
    """List the refunds of the key's environment, newest first; with several filters those that have all.

    Each is as `refunds` of its order has it, with that order's id. Those that your wallet has not sent yet are
    `requested`: with `created_to` an hour ago you see which it was given long ago.
    """
    key = get_caller_key()
    key.require_env(query.pop("env_mode", key.env_mode))
    page = {name: query.pop(name) for name in PAGE & query.keys()}
    return list_refunds(get_resources(), key.vendor_id, key.env_mode, RefundFilter(**query), **page)
