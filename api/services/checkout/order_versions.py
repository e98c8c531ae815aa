"""A short text for each order that changes whenever its page has something new to show."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import BindParameter, bindparam, func, select

from api.domain.errors import NotFound
from api.services.resources import Resources
from api.storage.db import Database
from api.storage.tables import Payment, PaymentOrder

DIGEST_BYTES = 9
_ASKED: BindParameter[Sequence[str]] = bindparam("order_ids", expanding=True)
_STANDS = (Payment.order_id, Payment.kind, Payment.state, Payment.is_overdue)
_TRANSFERS = select(*_STANDS, func.count()).where(Payment.order_id.in_(_ASKED)).group_by(*_STANDS)
_VERSIONS = select(PaymentOrder.id, PaymentOrder.version).where(PaymentOrder.id.in_(_ASKED))


def require_version(resources: Resources, order_id: str) -> str:
    """Return an order's present version.

    Raises
    ------
    NotFound
        If there is no such order.
    """
    versions = read_versions(resources.database, [order_id])
    if order_id not in versions:
        raise NotFound("There is no such payment order")
    return versions[order_id]


def read_versions(database: Database, order_ids: Collection[str]) -> Mapping[str, str]:
    """Return the present version of each of these orders that exists, with two queries in all.

    The order itself counts, and where each of its transfers stands: not how often that was looked at.
    """
    transfers: dict[str, list[str]] = defaultdict(list)
    asked = {"order_ids": tuple(order_ids)}
    with database.read() as session:
        for order_id, *rest in session.execute(_TRANSFERS, asked):
            transfers[order_id or ""].append("/".join(map(str, rest)))
        versions = session.execute(_VERSIONS, asked).all()
    return {order_id: _shorten([str(number), *sorted(transfers[order_id])]) for order_id, number in versions}


def _shorten(parts: list[str]) -> str:
    return hashlib.blake2b(" ".join(parts).encode(), digest_size=DIGEST_BYTES).hexdigest()
