"""Transfers that belong to no order, as the vendor whose address they reached may see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.services.vendors.owned_addresses import Owner
from api.storage.tables import Payment, PaymentOrder
from routing_engine.reference import token_registry


def describe_unmatched(session: Session, owner: Owner, rows: Sequence[Payment]) -> list[dict[str, Any]]:
    """Describe transfers to the vendor that owns their recipients.

    An order that a transfer names is told only if it is the vendor's own: a reference may name anybody's.
    """
    vendor_id, env_mode = owner
    named = select(PaymentOrder.id).where(
        PaymentOrder.id.in_({row.claimed_order_id for row in rows if row.claimed_order_id}),
        PaymentOrder.vendor_id == vendor_id,
        PaymentOrder.env_mode == env_mode,
    )
    own = set(session.scalars(named))
    return [_describe(row, row.claimed_order_id if row.claimed_order_id in own else None) for row in rows]


def _describe(row: Payment, named_order_id: str | None) -> dict[str, Any]:
    info = token_registry.info_of(row.chain_id, row.token_address)
    return {
        "id": row.public_id,
        "env_mode": row.env_mode,
        "chain_id": row.chain_id,
        "transaction_hash": row.tx_hash,
        "timestamp": format_time(row.mined_at),
        "token": row.token_address,
        "token_symbol": info.symbol if info else "",
        "token_decimals": info.on(row.chain_id).decimals if info else None,
        "amount": str(row.amount),
        "from": row.sender,
        "to": row.recipient,
        "status": row.state,
        "reason": row.unmatched_reason,
        "named_order_id": named_order_id,
        "is_bridged": bool(row.bridge_id),
    }
