"""A short text for each order that changes whenever its page has something new to show."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, bindparam, func, select

from api.domain.errors import NotFound
from api.services.resources import Resources
from api.storage.db import Database
from api.storage.tables import Payment, PaymentOrder

DIGEST_BYTES = 9
_ASKED: BindParameter[Sequence[str]] = bindparam("order_ids", expanding=True)
_ORDER, _PAYMENT = PaymentOrder.__table__.c, Payment.__table__.c
_STANDS = (_PAYMENT.order_id, _PAYMENT.kind, _PAYMENT.state, _PAYMENT.is_overdue)
_TRANSFERS = select(*_STANDS, func.count()).where(_PAYMENT.order_id.in_(_ASKED)).group_by(*_STANDS)
_VERSIONS = select(_ORDER.id, _ORDER.version).where(_ORDER.id.in_(_ASKED))


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
    transfers: dict[str, dict[tuple[Any, ...], int]] = defaultdict(dict)
    asked = {"order_ids": tuple(order_ids)}
    with database.read() as session:
        for order_id, *stands, count in session.execute(_TRANSFERS, asked):
            transfers[order_id or ""][tuple(stands)] = count
        versions = session.execute(_VERSIONS, asked).all()
    return {order_id: _write(number, transfers[order_id]) for order_id, number in versions}


def find_version(number: int, transfers: Iterable[Any]) -> str:
    """Return the version of an order that has been read: with its `version`, and all its transfers."""
    return _write(number, Counter((row.kind, row.state, row.is_overdue) for row in transfers))


def _write(number: int, transfers: Mapping[tuple[Any, ...], int]) -> str:
    stands = sorted("/".join(map(str, (*where, count))) for where, count in transfers.items())
    return hashlib.blake2b(" ".join([str(number), *stands]).encode(), digest_size=DIGEST_BYTES).hexdigest()
