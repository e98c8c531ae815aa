"""The two environments."""

from __future__ import annotations

from enum import StrEnum


class EnvMode(StrEnum):
    """Environment of a key, an order, a subscription or an event."""

    TEST = "test"
    LIVE = "live"
