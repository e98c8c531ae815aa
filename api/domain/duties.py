"""What has to be done again and again whether anybody asks or not, each by one process at a time."""

from __future__ import annotations

from enum import StrEnum


class Duty(StrEnum):
    """A duty of the worker; also the key of its lease, so the words are stable."""

    CHAINS = "chains"
    WEBHOOKS = "webhooks"
    EXPIRY = "expiry"
    SOURCES = "sources"
    HOUSEKEEPING = "housekeeping"
