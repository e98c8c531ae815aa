"""What payers' wallets say they have sent: a hint where to look, never a payment by itself."""

from __future__ import annotations

from api.context import Context
from api.domain.env import EnvMode
from api.domain.errors import InvalidData
from api.services.ledger.environments import ledger_for
from api.services.orders.views import public_order
from api.services.settlement.watching.hints import add_hint


def report_payment(context: Context, order_id: str, *, chain_id: int, tx_hash: str) -> bool:
    """Note that somebody says to have sent a transaction; the same hint again changes nothing.

    Parameters
    ----------
    chain_id : int
        Where it was sent.
    tx_hash : str
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
    """
    env_mode = EnvMode(public_order(context, order_id).env_mode)
    ledger = ledger_for(context, env_mode)
    if ledger is None or chain_id not in ledger.chain_ids:
        raise InvalidData.at("chain_id", "The order can't be paid on this chain; use the chain of its quote")
    with context.database.write() as session:
        return add_hint(session, env_mode, chain_id, tx_hash, context.clock.now())
