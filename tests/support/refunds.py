"""Refunds that a vendor asks for, of orders that are paid."""

from __future__ import annotations

from typing import Any

from tests.support.shop import Shop

ELSEWHERE = "0x" + "ab" * 20
FINAL_S = 5
"""Simulated chains keep what is three seconds old."""


def refund(shop: Shop, order_id: str, **body: object) -> Any:
    """Ask for a refund; return the answer."""
    return shop.post(f"/api/v1/payment/{order_id}/refund", body)


def paid(shop: Shop, action: str = "pay") -> str:
    """Return an order whose payment is final."""
    order_id = shop.create()
    shop.simulate(order_id, action)
    shop.wait(FINAL_S)
    return order_id


def count_elsewhere(number: int) -> str:
    """Return one of many addresses."""
    return f"0x{number:040x}".replace("0x00", "0xab")
