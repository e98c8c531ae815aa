"""Where a payment is that set out over a bridge and did not arrive, and what to do about it."""

from __future__ import annotations

from typing import Any

from api.domain.clock import format_time
from api.domain.orders import OrderStatus, StatusReason
from api.domain.transfers import TransferKind
from api.services.orders.money import Money
from api.services.routing.token_serializers import checksum
from api.storage.tables import Payment, PaymentOrder


def describe_stranded(order: PaymentOrder, money: Money) -> list[dict[str, Any]]:
    """Describe the deposits of an order that its bridges can't deliver any more, or have given back.

    Returns
    -------
    list of dict
        For each: ``chain_id``, ``token_address``, ``amount`` in smallest units, ``bridge``, ``deposit_hash``, ``owner``
        who gets it back, ``refund_hash``, empty until it did, and ``next_step`` for people.
    """
    has_failed = (order.status, order.status_reason) == (OrderStatus.FAILED, StatusReason.ROUTE_FAILED)
    refunds = {row.source_tx_hash: row for row in money.payments if row.kind == TransferKind.BRIDGE_REFUND}
    delivered = {row.source_tx_hash for row in money.payments if row.kind == TransferKind.PAYMENT}
    deposits = [row for row in money.payments if row.kind == TransferKind.DEPOSIT and row.tx_hash not in delivered]
    return [
        _describe(row, refunds.get(row.tx_hash))
        for row in deposits
        if has_failed or row.is_overdue or row.tx_hash in refunds
    ]


def _describe(deposit: Payment, refund: Payment | None) -> dict[str, Any]:
    return {
        "chain_id": deposit.chain_id,
        "token_address": deposit.token_address,
        "amount": str(deposit.amount),
        "bridge": deposit.bridge_id.partition(":")[0],
        "deposit_hash": deposit.tx_hash,
        "owner": deposit.sender,
        "refund_hash": refund.tx_hash if refund else "",
        "next_step": _choose_next_step(deposit, refund),
    }


def _choose_next_step(deposit: Payment, refund: Payment | None) -> str:
    owner = checksum(deposit.sender)
    if refund is not None:
        return f"The bridge has given the money back to {owner}; create a new payment link to be paid again"
    since = f" Its deadline passed at {format_time(deposit.fill_deadline)}." if deposit.fill_deadline else ""
    return (
        f"The bridge could not deliver and gives the money back to {owner} by itself, on chain "
        f"{deposit.chain_id}, as a rule within hours.{since} Create a new payment link to be paid again"
    )
