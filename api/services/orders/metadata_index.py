"""The entries of orders' metadata, by which a vendor finds its orders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from api.domain.audit import AuditAction, Change
from api.domain.env import EnvMode
from api.storage.rows import NewRow, insert_rows
from api.storage.tables import OrderMetadata, PaymentOrder

DIGITS = 12


def list_entries(order: PaymentOrder) -> Iterator[NewRow]:
    """Say by what metadata an order can be found: its texts, numbers, true, false and null, not what is nested."""
    for key, value in order.merchant_metadata.items():
        if value is None or isinstance(value, str | int | float):
            digest = _hash_entry(order.vendor_id, order.env_mode, key, _write(value))
            yield NewRow(table=OrderMetadata, given={"digest": digest, "order_id": order.id})


def replace_entries(session: Session, order_id: str, before: Iterable[NewRow], after: Iterable[NewRow]) -> None:
    """Let a locked order be found by its entries of now, and no longer by those before."""
    old, new = ({row.given["digest"]: row for row in rows} for rows in (before, after))
    if gone := old.keys() - new.keys():
        mine = (OrderMetadata.digest.in_(gone), OrderMetadata.order_id == order_id)
        session.execute(delete(OrderMetadata).where(*mine))
    if added := [row for digest, row in new.items() if digest not in old]:
        insert_rows(session, added)


def describe_metadata_change(order: PaymentOrder, before: Mapping[str, Any]) -> Change:
    """Say what became of an order's metadata, to be written down: names alone, as its texts may be a customer's."""
    return Change(
        action=AuditAction.METADATA_CHANGED,
        subject=order.id,
        vendor_id=order.vendor_id,
        env_mode=order.env_mode,
        before=_describe(before),
        after=_describe(order.merchant_metadata),
    )


def match_metadata(vendor_id: str, env_mode: EnvMode, wanted: Mapping[str, str]) -> list[ColumnElement[bool]]:
    """Return the conditions that an order has all of these entries; numbers and the like as JSON writes them."""
    digests = [_hash_entry(vendor_id, env_mode, key, value) for key, value in wanted.items()]
    return [
        PaymentOrder.id.in_(select(OrderMetadata.order_id).where(OrderMetadata.digest == digest)) for digest in digests
    ]


def _describe(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Name what is there; the digest tells one state from another."""
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode()).hexdigest()[:DIGITS]
    return {"names": sorted(metadata), "sha256": digest}


def _write(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _hash_entry(vendor_id: str, env_mode: str, key: str, value: str) -> bytes:
    return hashlib.sha256(json.dumps([vendor_id, env_mode, key, value]).encode()).digest()
