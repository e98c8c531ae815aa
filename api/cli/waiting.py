"""Commands that wait until an order is as far as somebody wants it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType
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
    time.sleep(seconds)


class Interruption:
    """Ctrl-C ends what is done within, without a fault, wherever it comes.

    The interpreter raises `KeyboardInterrupt` between any two of its instructions. Within a lock of the standard
    library it can come out as another fault, and within a finalizer it is swallowed: the next pause then ends it.
    """

    def __init__(self) -> None:
        self.came = False

    def __enter__(self) -> Interruption:
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> bool:
        signal.signal(signal.SIGINT, self._before)
        return self.came

    def pause(self, seconds: float) -> None:
        """Wait, or end if Ctrl-C came before."""
        if self.came:
            raise KeyboardInterrupt
        pause(seconds)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        raise KeyboardInterrupt
