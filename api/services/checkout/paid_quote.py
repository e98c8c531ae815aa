"""By which quote an order was paid, as far as what was built for wallets and what came agree."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy.orm import Session

from api.services.checkout.quote import OrderQuote
from api.services.orders.main_transactions import Place
from api.services.orders.money import Money
from api.storage.tables import StoredQuote


def find_paid_quote(session: Session, money: Money, main: Collection[Place]) -> OrderQuote | None:
    """Return the quote of the oldest transaction that has one; None where no wallet's quote fits.

    Only words rest on it: amounts that count are those on the chain.

    Parameters
    ----------
    main : collection of tuple
        Chain and hash of the transactions that are told.
    """
    for row in money.payments:
        quote = money.find_quote(row) if (row.chain_id, row.tx_hash) in main else None
        if quote is not None:
            return load_own_quote(session, quote.order_id, quote.quote_id)
    return None


def load_own_quote(session: Session, order_id: str, quote_id: str) -> OrderQuote | None:
    """Return a quote that was given for an order, whether it still holds or not."""
    row = session.get(StoredQuote, quote_id)
    return OrderQuote.from_body(row.body) if row is not None and row.order_id == order_id else None
