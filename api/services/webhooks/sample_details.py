"""What a test event of a type says beyond what events of every type do."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from api.domain.clock import format_time
from api.domain.events import EventType

TRANSFER = "tr_00000000000000000000000000000000test"
CHAIN = 8453
COIN = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
HASH = "0x" + "7e57" * 16
PAYER, MERCHANT = "0x" + "11" * 20, "0x" + "22" * 20


def make_details(event_type: EventType, env_mode: str, at: datetime) -> dict[str, Any]:
    """Return the properties that only events of this type have, such as real ones have them."""
    if event_type == EventType.REFUNDED:
        return {"refund": _make_refund(at)}
    return {"transfer": _make_transfer(env_mode, at)} if event_type == EventType.UNMATCHED else {}


def _make_refund(at: datetime) -> dict[str, Any]:
    return {
        "transfer": TRANSFER,
        "chain_id": CHAIN,
        "token": COIN,
        "amount": "1000000",
        "amount_sent": "1000000",
        "to": PAYER,
        "hash": HASH,
        "timestamp": format_time(at),
        "status": "final",
        "note": None,
        "created_at": format_time(at),
        "transaction": None,
    }


def _make_transfer(env_mode: str, at: datetime) -> dict[str, Any]:
    return {
        "id": TRANSFER,
        "env_mode": env_mode,
        "chain_id": CHAIN,
        "transaction_hash": HASH,
        "timestamp": format_time(at),
        "token": COIN,
        "token_symbol": "USDC",
        "token_decimals": 6,
        "amount": "1000000",
        "from": PAYER,
        "to": MERCHANT,
        "status": "final",
        "reason": "no_order",
        "named_order_id": None,
        "is_bridged": False,
    }
