"""Which deposits into bridges were built for an order: only they count as on their way.

Anybody who has the link can deposit something with the order's reference, such as one unit, or on terms that no relayer
takes. What was built for a quote of the order is written beside the quote, and compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from adapters.bridges.promise import Promise
from api.domain.transfers import Transfer, TransferKind
from api.services.settlement.crediting.quote_payers import remember_payer, select_given
from api.storage.tables import PaymentOrder, StoredQuote

SIMULATED_BRIDGE = "simulated"
"""What the names of the simulated bridge's deposits begin with."""
FIELD = "built"
"""Of a stored quote's body: what was built for it, one object a build."""
MOST = 50
"""Builds of one quote that are remembered, the newest."""


def describe_build(
    *,
    payer: str,
    chain_id: int,
    token_address: str,
    amount: int,
    promised_amount: int,
    fill_deadline: int | None,
    only: str = "",
) -> dict[str, Any]:
    """Return what tells a deposit as it was built; amounts in smallest units, the deadline in seconds since 1970.

    `only` is who alone may deliver it, in lower case; empty where anybody may.
    """
    return {
        "payer": payer,
        "chain_id": chain_id,
        "token_address": token_address,
        "amount": str(amount),
        "promised_amount": str(promised_amount),
        "fill_deadline": fill_deadline,
        "only": only,
    }


def remember_build(session: Session, quote_id: str, build: Mapping[str, Any]) -> None:
    """Write beside a quote what was built for it, and for whom; the same again changes nothing."""
    quote = session.get(StoredQuote, quote_id, with_for_update=True)
    remember_payer(session, quote_id, build["payer"])
    if quote is not None and build not in quote.body.get(FIELD, ()):
        quote.body = {**quote.body, FIELD: [*quote.body.get(FIELD, ()), dict(build)][-MOST:]}


def is_built(session: Session, order: PaymentOrder | None, transfer: Transfer) -> bool:
    """Whether a deposit is one that was built for a quote of the order; on simulated chains all are."""
    if order is None or transfer.kind != TransferKind.DEPOSIT:
        return False
    if transfer.bridge_id.startswith(f"{SIMULATED_BRIDGE}:"):
        return True
    promise = transfer.promise
    wanted = (order.settlement_chain_id, order.settlement_token_address, order.settlement_address)
    if promise is None or (promise.chain_id, promise.token_address, promise.recipient) != wanted:
        return False
    bodies = session.scalars(select_given(order.id, transfer.sender))
    return any(_fits(build, transfer, promise) for body in bodies for build in body.get(FIELD, ()))


def _fits(build: Mapping[str, Any], transfer: Transfer, promise: Promise) -> bool:
    """Whether a deposit is just what was built: one that asks for more, or that only its payer may fill, is another."""
    deadline = None if transfer.fill_deadline is None else int(transfer.fill_deadline.timestamp())
    paid = (build["payer"], build["chain_id"], build["token_address"], build["amount"], build["fill_deadline"])
    seen = (transfer.sender, transfer.chain_id, transfer.token_address, str(transfer.amount), deadline)
    return paid == seen and (promise.amount, promise.only) == (int(build["promised_amount"]), build["only"])
