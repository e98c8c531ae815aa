"""What an order costs and what of that is missing, as the interface writes it."""

from __future__ import annotations

from typing import Any

from api.storage.tables import PaymentOrder


def describe_price(order: PaymentOrder) -> dict[str, Any]:
    """Describe the price as it was given."""
    return {
        "currency": order.price_currency,
        "amount": order.price_amount,
        "decimals": order.price_decimals,
        "amount_string": str(order.price_amount),
    }


def write_due(order: PaymentOrder) -> str | None:
    """Write what is still missing, in the settlement token's smallest units; None without a settlement."""
    return None if order.amount_due is None else str(order.amount_due)
