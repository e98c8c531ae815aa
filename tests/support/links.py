"""Bodies that ask for a payment link, and where they are sent."""

from __future__ import annotations

from typing import Any

from tests.support.shop import LINK

PATH = "/api/v1/payment_link"
LIVE = {**LINK, "env_mode": "live"} | {
    name: "https://shop.example/back" for name in LINK if name.endswith("_callback_url")
}
"""A link of the live environment, whose callbacks have to be https."""


def price(**changes: object) -> dict[str, Any]:
    """Return the usual price with some properties changed."""
    return {**LINK["order_price"], **changes}


def with_item(**changes: object) -> dict[str, Any]:
    """Return the usual link with one item, some of whose properties are changed."""
    return {**LINK, "line_items": [{"title": "Tea", "quantity": 1, **changes}]}
