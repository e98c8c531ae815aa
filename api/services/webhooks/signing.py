"""How a receiver knows who sent: the signatures of Standard Webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from standardwebhooks import Webhook

from api.services.webhooks.leases import DeliveryLease


def sign_headers(lease: DeliveryLease, secrets: Sequence[str], now: datetime) -> dict[str, str]:
    """Compose the headers of Standard Webhooks; the id stays the same over all attempts."""
    signatures = [Webhook(secret).sign(lease.event_id, now, lease.payload) for secret in secrets]
    return {
        "Content-Type": "application/json",
        "webhook-id": lease.event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
