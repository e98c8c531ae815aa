"""Into which shares the duties are divided, so that several workers do them side by side."""

from __future__ import annotations

from api.domain.duties import Duty, name_share
from api.services.resources import Resources
from api.services.settlement.watching.watched_chain import list_groups
from api.services.webhooks.waiting import PARTS


def list_shares(resources: Resources) -> tuple[str, ...]:
    """Return the key of each share's lease: a chain is one, and so is a part of the webhooks, and every other duty."""
    parts = {
        Duty.CHAINS: [group.name for group in list_groups(resources.ledgers)],
        Duty.WEBHOOKS: [str(part) for part in range(PARTS)],
    }
    return tuple(name_share(duty, part) for duty in Duty for part in parts.get(duty, ("",)))
