"""Which wallets were given transactions for which quotes of an order.

Anybody who has the link can ask for quotes without end. So who looks for a payment's quote reads only those that its
payer was given: however many others there are, they neither hide it nor take time.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from api.storage.db import insert_new
from api.storage.tables import QuotePayer, StoredQuote


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
