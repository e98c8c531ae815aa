"""Commands that wait until an order is as far as somebody wants it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import click

from api.cli.http import ServiceClient

FINAL = "final"
"""Awaited: something came, and no chain can lose it any more."""
LOOKS = 120
"""How often an order is looked at, with a second between."""


def wait_for(client: ServiceClient, path: str, awaited: str, rest: Callable[[float], None]) -> dict[str, Any]:
    """Read an order until it has the awaited status, or until all that came for it is final.

    Raises
    ------
    click.ClickException
        If it does not get there in time.
    """
    for _ in range(LOOKS):
        order = client.get(path)
        if is_final(order) if awaited == FINAL else order["payment_order_status"] == awaited:
            return order
        rest(1.0)
    told = f"{order['payment_order_status']} {order.get('status_reason', '')}".strip()
    raise click.ClickException(f"After {LOOKS} s the order is {told}, and not {awaited}: is `checkout worker` running?")


def is_final(order: dict[str, Any]) -> bool:
    """Whether money came for an order, and all of it can be sent back."""
    transfers = order.get("transfers") or ()
    return bool(transfers) and all(each["status"] == FINAL for each in transfers)


def pause(seconds: float) -> None:
    """Wait, and end at once when the user does."""
    threading.Event().wait(seconds)
