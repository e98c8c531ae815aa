"""What payers' wallets say they have sent: a hint where to look, never a payment by itself."""

from __future__ import annotations

from api.domain.env import EnvMode
from api.domain.errors import InvalidData
from api.services.orders.views import load_public_order
from api.services.resources import Resources
from api.services.settlement.watching.hints import add_hint


def report_payment(resources: Resources, order_id: str, *, chain_id: int, tx_hash: str) -> bool:
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
    env_mode = EnvMode(load_public_order(resources, order_id).env_mode)
    ledger = resources.ledgers.get(env_mode)
    if ledger is None or chain_id not in ledger.chain_ids:
        raise InvalidData.at("chain_id", "The order can't be paid on this chain; use the chain of its quote")
    with resources.database.write() as session:
        return add_hint(session, env_mode, chain_id, tx_hash, resources.clock.now())
