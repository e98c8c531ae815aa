"""What is under way for an order on the simulated chains."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.domain.errors import Conflict, NotFound, Problem
from api.domain.payments import PaymentState
from api.services.checkout.quote import OrderQuote
from api.services.orders.money import Money
from api.services.settlement.crediting.quote_payers import remember_payer
from api.services.simulator.wallet import PAYER, PayerFunds
from api.storage.tables import PaymentOrder, SimulatedTransfer, StoredQuote

NOT_ITS_QUOTE = (
    "Not a quote of this order: its quotes are made on its payment page, when a payer chooses how to pay; those of "
    "GET /api/v1/quote belong to no order. Give chain_id and token instead to pay in another token, or none of them "
    "to pay what is due"
)


def list_outstanding(session: Session, order: PaymentOrder, money: Money) -> list[SimulatedTransfer]:
    """Return the order's transfers that the watcher has not seen yet."""
    seen = {(row.chain_id, row.tx_hash, row.log_index) for row in money.payments}
    return [row for row in _list_transfers(session, order) if (row.chain_id, row.tx_hash, row.log_index) not in seen]


def list_unfinal(session: Session, order: PaymentOrder, money: Money) -> list[SimulatedTransfer]:
    """Return the order's transfers that were seen and that the watcher still checks."""
    hashes = {row.tx_hash for row in money.payments if row.state == PaymentState.SEEN}
    return [row for row in _list_transfers(session, order) if row.tx_hash in hashes]


def load_quoted_source(session: Session, order: PaymentOrder, quote_id: str, now: datetime) -> PayerFunds:
    """Return what the payer pays with according to a quote of this order.

    Raises
    ------
    NotFound
        If there is no such quote for this order.
    Conflict
        If it has expired.
    """
    row = session.get(StoredQuote, quote_id)
    if row is None or row.order_id != order.id:
        raise NotFound("There is no such quote", Problem(path="quote_id", message=NOT_ITS_QUOTE))
    if row.expires_at <= now:
        raise Conflict("The quote has expired", Problem(path="quote_id", message="Ask for a new quote"))
    remember_payer(session, quote_id, PAYER)
    quote = OrderQuote.from_body(row.body)
    return PayerFunds(chain_id=quote.chain_id, token_address=quote.token_address, amount=quote.amount_in)


def _list_transfers(session: Session, order: PaymentOrder) -> list[SimulatedTransfer]:
    query = select(SimulatedTransfer).where(
        SimulatedTransfer.reference == order.payment_reference, SimulatedTransfer.is_canonical
    )
    return list(session.scalars(query))
