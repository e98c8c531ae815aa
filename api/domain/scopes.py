"""What an API key may do."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Scope(StrEnum):
    """One of the rights that a key has or lacks."""

    READ = "read"
    """See orders, events, unmatched transfers and the look of the payment page; download orders."""
    ORDERS = "orders"
    """Make payment links, cancel and simulate orders, assign transfers, change the look of the payment page."""
    REFUNDS = "refunds"
    """Give money back."""
    WEBHOOKS = "webhooks"
    """See and change webhooks, and send events again."""


ALL_SCOPES = frozenset(Scope)


def write_scopes(scopes: Iterable[Scope]) -> str:
    """Write scopes as they are stored and shown: with a space between, in their own order."""
    given = frozenset(scopes)
    return " ".join(scope for scope in Scope if scope in given)


def parse_scopes(text: str) -> frozenset[Scope]:
    """Read what `write_scopes` wrote; a word that this version does not know gives no right."""
    return frozenset(scope for scope in Scope if scope in text.split())
