"""Give back what was paid on real chains: the merchant's wallet signs, and the chain tells when it is done.

The service holds no key. It says which transfers are due, each with a reference of its own behind the calldata, and
finds them on the chain by it; nobody has to report a hash.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from adapters.transactions.desk import with_reference
from adapters.transactions.erc20 import transfer
from api.domain.errors import Conflict
from api.domain.ids import new_reference
from api.domain.ledger import TransferKind
from api.domain.orders import OrderStatus, change
from api.services.order_store import Payments, is_credited, state_of
from api.services.simulated_wallet import settlement_token
from api.storage.tables import Payment, PaymentOrder, Refund


def request_refund(session: Session, order: PaymentOrder, payments: Payments, now: datetime) -> None:
    """Note that a vendor wants to send back what a paid order has received; asking again changes nothing.

    Raises
    ------
    Conflict
        If the order's status does not allow it, or there is nothing to send back.
    """
    change(state_of(order), OrderStatus.REFUNDED)
    if order.refund_amount is not None:
        return
    received = [row for row in payments if is_credited(order, row)]
    if not received:
        raise Conflict("There is nothing to send back: the chain has lost the payment")
    deposits = {row.tx_hash: row.sender for row in payments if row.kind == TransferKind.DEPOSIT}
    for row in received:
        session.add(_refund(order, row, deposits.get(row.source_tx_hash or "", row.sender), now))
    order.refund_amount, order.updated_at = sum(row.amount for row in received), now


def describe_refund(session: Session, order: PaymentOrder, payments: Payments) -> dict[str, Any] | None:
    """Describe a refund that was asked for; None where there is none.

    Returns
    -------
    dict
        ``amount``; ``transactions`` that the wallet at the settlement address has to sign: ``chain_id``, ``from``,
        ``to``, ``value`` and ``data`` as wallets take them, ``recipient`` and ``amount`` for people; ``sent``, the
        hashes of those that the chain has already.
    """
    if order.refund_amount is None:
        return None
    sent = [row for row in payments if row.kind == TransferKind.REFUND]
    left = [(row.recipient, row.amount) for row in sent]
    due = []
    for row in session.scalars(select(Refund).where(Refund.order_id == order.id).order_by(Refund.id)):
        if (row.recipient, row.amount) in left:
            left.remove((row.recipient, row.amount))
        else:
            due.append(_transaction(order, row))
    return {"amount": str(order.refund_amount), "transactions": due, "sent": [row.tx_hash for row in sent]}


def _refund(order: PaymentOrder, payment: Payment, payer: str, now: datetime) -> Refund:
    return Refund(
        order_id=order.id,
        payment_id=payment.id,
        chain_id=payment.chain_id,
        token_address=payment.token_address,
        sender=payment.recipient,
        recipient=payer,
        amount=payment.amount,
        reference=new_reference(),
        created_at=now,
    )


def _transaction(order: PaymentOrder, row: Refund) -> dict[str, Any]:
    call = with_reference(transfer(settlement_token(order), row.recipient, row.amount), row.reference)
    return {
        "chain_id": call.chain_id,
        "from": row.sender,
        "to": call.to,
        "value": hex(call.value),
        "data": "0x" + call.data.hex(),
        "recipient": row.recipient,
        "amount": str(row.amount),
    }
