"""Make a running service send events: by orders that exist only for that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from api.cli.http import ServiceClient
from api.cli.waiting import FINAL, wait_for

LINK: Mapping[str, Any] = MappingProxyType(
    {
        "line_items": [{"title": "Order of `checkout webhooks trigger`", "quantity": 1}],
        "order_price": {"currency": "USD", "amount": 1000, "decimals": 2},
        "env_mode": "test",
        "success_callback_url": "http://localhost/success",
        "cancel_callback_url": "http://localhost/cancel",
        "failure_callback_url": "http://localhost/failure",
        "metadata": {"webhook_test": True},
    }
)
Pause = Callable[[float], None]


def trigger(client: ServiceClient, event: str, pause: Pause) -> str:
    """Let a test order go through what `event` tells of, and return its id.

    Raises
    ------
    click.ClickException
        If the service refuses, or its worker does not move the order on.
    """
    order_id = str(client.post("/api/v1/payment_link", LINK)["payment_order_id"])
    SCENARIOS[event](client, f"/api/v1/payment/{order_id}", pause)
    return order_id


def _leave(client: ServiceClient, order: str, pause: Pause) -> None:
    """Do nothing more: making an order is told already."""


def _pay(client: ServiceClient, order: str, pause: Pause) -> None:
    client.post(f"{order}/simulate", {"action": "pay"})


def _cancel(client: ServiceClient, order: str, pause: Pause) -> None:
    client.post(f"{order}/cancel", {})


def _refund(client: ServiceClient, order: str, pause: Pause) -> None:
    _pay(client, order, pause)
    wait_for(client, order, FINAL, pause)
    client.post(f"{order}/refund", {})


SCENARIOS: Mapping[str, Callable[[ServiceClient, str, Pause], None]] = MappingProxyType(
    {
        "payment_processing": _leave,
        "payment_success": _pay,
        "payment_failed": _cancel,
        "payment_refunded": _refund,
    }
)
"""What happens to the order, by the event that tells of it."""
