"""Which wallets were given transactions for which quotes of an order.

Anybody who has the link can ask for quotes without end. So who looks for a payment's quote reads only those that its
payer was given: however many others there are, they neither hide it nor take time.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, delete, select
from sqlalchemy.orm import Session

from api.storage.db import insert_new
from api.storage.tables import QuotePayer, StoredQuote

KEEP_UNUSED = timedelta(minutes=5)
"""After its end, a quote that no wallet was given: until then its reader hears that it has ended."""


def remember_payer(session: Session, quote_id: str, payer: str) -> None:
    """Write down which wallet was given transactions for an order's quote; the same again changes nothing."""
    quote = session.get(StoredQuote, quote_id)
    if quote is not None and quote.order_id is not None:
        insert_new(session, QuotePayer, {"order_id": quote.order_id, "payer": payer, "quote_id": quote_id})


def select_given(order_id: str | None, payer: str) -> Select[tuple[dict[str, Any]]]:
    """Select the bodies of the quotes of an order that a wallet was given transactions for, the latest first."""
    return (
        select(StoredQuote.body)
        .join(QuotePayer, QuotePayer.quote_id == StoredQuote.id)
        .where(QuotePayer.order_id == order_id, QuotePayer.payer == payer)
        .order_by(StoredQuote.id.desc())
    )


def forget_unused_quotes(session: Session, now: datetime, order_id: str | None = None) -> None:
    """Delete the quotes of an order, or of all orders, that ended a while ago and that no wallet was given."""
    is_used = select(QuotePayer.quote_id).where(QuotePayer.quote_id == StoredQuote.id).exists()
    is_meant = StoredQuote.order_id.is_not(None) if order_id is None else StoredQuote.order_id == order_id
    session.execute(delete(StoredQuote).where(is_meant, StoredQuote.expires_at < now - KEEP_UNUSED, ~is_used))
