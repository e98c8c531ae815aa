"""The entries of orders' metadata, by which a vendor finds its orders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, select

from api.domain.env import EnvMode
from api.storage.rows import NewRow
from api.storage.tables import OrderMetadata, PaymentOrder


def list_entries(order: PaymentOrder) -> Iterator[NewRow]:
    """Say by what metadata an order can be found: its texts, numbers, true, false and null, not what is nested."""
    for key, value in order.merchant_metadata.items():
        if value is None or isinstance(value, str | int | float):
            digest = _hash_entry(order.vendor_id, order.env_mode, key, _write(value))
            yield NewRow(table=OrderMetadata, given={"digest": digest, "order_id": order.id})


def match_metadata(vendor_id: str, env_mode: EnvMode, wanted: Mapping[str, str]) -> list[ColumnElement[bool]]:
    """Return the conditions that an order has all of these entries; numbers and the like as JSON writes them."""
    digests = [_hash_entry(vendor_id, env_mode, key, value) for key, value in wanted.items()]
    return [
        PaymentOrder.id.in_(select(OrderMetadata.order_id).where(OrderMetadata.digest == digest)) for digest in digests
    ]


def _write(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _hash_entry(vendor_id: str, env_mode: str, key: str, value: str) -> bytes:
    return hashlib.sha256(json.dumps([vendor_id, env_mode, key, value]).encode()).digest()
