"""What has to be done again and again whether anybody asks or not, each share of it by one process at a time."""

from __future__ import annotations

from enum import StrEnum


class Duty(StrEnum):
    """A duty of the workers; the words stand in the keys of leases, so they are stable."""

    CHAINS = "chains"
    WEBHOOKS = "webhooks"
    EXPIRY = "expiry"
    SOURCES = "sources"
    HOUSEKEEPING = "housekeeping"


PRESENCE = "worker/"
"""What the keys of leases begin with by which workers know of each other."""


def name_share(duty: Duty, part: str) -> str:
    """Return the key of a share's lease: the duty, and the part of it unless one worker does all of it."""
    return f"{duty}/{part}" if part else str(duty)


def find_duty(share: str) -> Duty:
    """Return the duty that a share belongs to."""
    return Duty(share.partition("/")[0])
