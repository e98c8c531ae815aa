"""Make a running service send events: by orders that exist only for that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import click

from api.cli.http import ServiceClient

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
PATIENCE = 120
"""How often an order is looked at, with a second between, until the worker has moved it on."""
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
    for _ in range(PATIENCE):
        transfers = client.get(order).get("transfers") or ()
        if transfers and all(each["status"] == "final" for each in transfers):  # what a chain may lose stays
            client.post(f"{order}/refund", {})
            return
        pause(1.0)
    raise click.ClickException("The payment did not become final: is `checkout worker` running?")


SCENARIOS: Mapping[str, Callable[[ServiceClient, str, Pause], None]] = MappingProxyType(
    {
        "payment_processing": _leave,
        "payment_success": _pay,
        "payment_failed": _cancel,
        "payment_refunded": _refund,
    }
)
"""What happens to the order, by the event that tells of it."""
