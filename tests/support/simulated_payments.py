"""Payments on the simulated chains, as somebody's own wallet makes them, and blocks that are undone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from api.domain.transfers import TransferKind
from api.services.simulator.chain import NewTransfer, append, hold, reorganise
from api.services.simulator.wallet import PAYER
from api.storage.tables import PaymentOrder
from tests.support.shop import Shop

ETH_PRICE = {"currency": "ETH", "amount": 1, "decimals": 0}


def read_order(shop: Shop, order_id: str) -> PaymentOrder:
    with shop.resources.database.read() as session:
        return session.get_one(PaymentOrder, order_id)


def send(shop: Shop, order_id: str, amount: int, **changes: Any) -> str:
    """Move tokens on a chain as somebody's own wallet would."""
    order = read_order(shop, order_id)
    delay = changes.pop("delay", timedelta())
    fields: dict[str, Any] = {
        "kind": TransferKind.PAYMENT,
        "chain_id": order.settlement_chain_id,
        "token_address": order.settlement_token_address,
        "sender": PAYER,
        "recipient": order.settlement_address,
        "amount": amount,
        "reference": order.payment_reference,
    }
    with shop.resources.database.write() as session:
        return append(session, NewTransfer(**(fields | changes)), shop.clock.now(), delay=delay)


def undo_blocks(shop: Shop, first: int, *lost: bytes, chain_id: int = 8453) -> None:
    with shop.resources.database.write() as session:
        reorganise(session, hold(session, chain_id)[chain_id], first, lost, shop.clock.now())


def list_unmatched_reasons(shop: Shop) -> list[tuple[str, str | None]]:
    return [(row.unmatched_reason, row.claimed_order_id) for row in shop.payments() if row.order_id is None]
