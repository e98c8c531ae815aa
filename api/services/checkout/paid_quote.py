"""By which quote an order was paid, as far as what was built for wallets and what came agree."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from api.domain.transfers import TransferKind
from api.services.checkout.quote import OrderQuote
from api.services.settlement.crediting.quote_payers import select_given
from api.storage.tables import Payment, StoredQuote

LATEST = 20
"""Quotes that a wallet was given for an order and that are looked at, the latest before its payment was seen."""


def find_paid_quote(session: Session, rows: Sequence[Payment]) -> OrderQuote | None:
    """Return the quote that a wallet was given last before its payment was seen; None where no wallet's quote fits.

    Only words rest on it: amounts that count are those on the chain.

    Parameters
    ----------
    rows : sequence of Payment
        What moved for one order, oldest first.
    """
    delivered = {row.source_tx_hash for row in rows if row.kind == TransferKind.PAYMENT}
    for row in rows:
        is_deposit = row.kind == TransferKind.DEPOSIT and (row.is_built or row.tx_hash in delivered)
        if is_deposit or (row.kind == TransferKind.PAYMENT and row.source_tx_hash is None):
            found = _find_quote(session, row, is_deposit=is_deposit)
            if found is not None:
                return found
    return None


def load_own_quote(session: Session, order_id: str, quote_id: str) -> OrderQuote | None:
    """Return a quote that was given for an order, whether it still holds or not."""
    row = session.get(StoredQuote, quote_id)
    return OrderQuote.from_body(row.body) if row is not None and row.order_id == order_id else None


def _find_quote(session: Session, row: Payment, *, is_deposit: bool) -> OrderQuote | None:
    given = select_given(row.order_id, row.sender).where(StoredQuote.created_at <= max(row.seen_at, row.mined_at))
    for body in session.scalars(given.limit(LATEST)):
        if body.get("chain_id") != row.chain_id:
            continue
        quote = OrderQuote.from_body(body)
        if is_deposit == (quote.settlement_chain_id != row.chain_id) and (is_deposit or row.amount == quote.amount_out):
            return quote
    return None
