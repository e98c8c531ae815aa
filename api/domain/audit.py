"""What is written down of the changes that an operator or a merchant makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class AuditAction(StrEnum):
    """What was done."""

    VENDOR_CREATED = "vendor_created"
    KEY_CREATED = "key_created"
    KEY_ROTATED = "key_rotated"
    KEY_REVOKED = "key_revoked"
    SETTLEMENT_SET = "settlement_set"
    SETTLEMENT_REMOVED = "settlement_removed"
    BRAND_CHANGED = "brand_changed"
    WEBHOOK_CREATED = "webhook_created"
    WEBHOOK_CHANGED = "webhook_changed"
    WEBHOOK_ENABLED = "webhook_enabled"
    WEBHOOK_DELETED = "webhook_deleted"
    WEBHOOK_SECRET_ROTATED = "webhook_secret_rotated"  # noqa: S105 - the name of a change
    PAYMENT_ASSIGNED = "payment_assigned"
    PAYMENT_UNASSIGNED = "payment_unassigned"
    REFUND_REQUESTED = "refund_requested"
    REFUND_CANCELLED = "refund_cancelled"
    METADATA_CHANGED = "metadata_changed"
    BLOCKS_RESCANNED = "blocks_rescanned"
    SECRETS_ROTATED = "secrets_rotated"
    SECRETS_RESET = "secrets_reset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change; it holds no secret.

    Parameters
    ----------
    subject : str
        What was changed: an id, a currency, a chain.
    vendor_id, env_mode : str or None
        Whose it is; None where it is the whole service's.
    before, after : mapping
        What of it was otherwise, and how it is since, as JSON takes it.
    """

    action: AuditAction
    subject: str
    vendor_id: str | None = None
    env_mode: str | None = None
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which changes are wanted; those that have all of it."""

    vendor_id: str | None = None
    actions: frozenset[AuditAction] = frozenset()
    since: datetime | None = None
