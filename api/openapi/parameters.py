"""Parameters in paths, by name: the views name them, and nothing else describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PATH_PARAMETERS: Mapping[str, tuple[str, str]] = {
    "order_id": ("Id of the payment order", "po_01kjmr9fr06kyra5w92xqnbd0m4c7t3j8vf"),
    "subscription_id": ("Id of the webhook subscription", "ep_01kjmr8z6d3s1f9k7n5v2x0c4b8g6q3w1jt"),
    "quote_id": ("Id of the quote", "qt_01kx3v8m2qk8w4m9n5t7b2c6d1f0g3h8j4"),
    "event_id": ("Id of the event", "evt_01kjmr9w2c7g5v0n3b6x8y4z1d9s7k5m2ht"),
    "transfer_id": ("Id of the unmatched transfer", "tr_01kjmr9q3n8d0w5e7x2v4b6c1m9k3j7h5gf"),
    "delivery_id": ("Id of the delivery", "dlv_01kjmr9x4h8j6t2m0f5c7q3w9b1r8p6v4nd"),
}
"""What it is, and an example."""


def describe_path_parameter(parameter: dict[str, Any]) -> None:
    """Say of a parameter in a path what it is, where that is known."""
    if parameter["name"] in PATH_PARAMETERS:
        description, example = PATH_PARAMETERS[parameter["name"]]
        parameter |= {"description": description, "example": example}
