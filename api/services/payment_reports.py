"""What payers' wallets say they have sent: a hint for the watcher, never a payment by itself."""

from __future__ import annotations

from sqlalchemy import func, select

from api.context import Context
from api.domain.env import EnvMode
from api.domain.errors import Conflict, InvalidData
from api.services.ledgers import ledger_for
from api.services.order_view import public_order
from api.storage.db import insert_new
from api.storage.tables import PaymentReport

MOST_REPORTS = 20
"""Of one order: a customer replaces a transaction a few times at most."""


def report_payment(context: Context, order_id: str, *, chain_id: int, tx_hash: str, payer: str) -> bool:
    """Note that a wallet has sent a transaction for an order; the same report again changes nothing.

    Parameters
    ----------
    chain_id : int
        Where it was sent.
    tx_hash, payer : str
        In lower case.

    Returns
    -------
    bool
        Whether it was new.

    Raises
    ------
    NotFound
        If there is no such order.
    InvalidData
        If the order's environment has no such chain.
    Conflict
        If too many were reported already.
    """
    order = public_order(context, order_id)
    ledger = ledger_for(context, EnvMode(order.env_mode))
    if ledger is None or chain_id not in ledger.chain_ids:
        raise InvalidData.at("chain_id", "The order can't be paid on this chain; use the chain of its quote")
    values = {
        "order_id": order_id,
        "chain_id": chain_id,
        "tx_hash": tx_hash,
        "payer": payer,
        "reported_at": context.clock.now(),
    }
    with context.database.write() as session:
        if session.get(PaymentReport, (order_id, chain_id, tx_hash)) is not None:
            return False
        count = session.scalar(select(func.count()).where(PaymentReport.order_id == order_id))
        if (count or 0) >= MOST_REPORTS:
            raise Conflict(
                "Too many transactions were reported for this order; the service finds the payment by itself"
            )
        return insert_new(session, PaymentReport, values)
