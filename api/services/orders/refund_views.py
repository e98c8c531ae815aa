"""Describe to a vendor what reached it for an order, and what of that it sends back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from adapters.transactions.erc20 import make_transfer
from adapters.transactions.payment_builders import append_reference
from api.domain.audit import AuditAction, Change
from api.domain.clock import format_time
from api.domain.ids import IdPrefix
from api.services.orders.money import Money
from api.services.orders.quoted import describe_quoted
from api.storage.tables import Payment, Refund
from routing_engine.model import Token


class RefundStatus(StrEnum):
    """Where a refund stands: the wallet has to sign some of it, its chain has all of it, its chain keeps it.

    Cancelled it is to be signed no more.
    """

    REQUESTED = "requested"
    SENT = "sent"
    FINAL = "final"
    CANCELLED = "cancelled"


def describe_refunds(money: Money) -> list[dict[str, Any]]:
    """Describe what a vendor wants to send back, oldest first.

    Returns
    -------
    list of dict
        For each its ``id``, the ``transfer`` that brought it, ``chain_id``, ``token``, ``amount`` that was asked for,
        ``amount_sent``, ``to``, ``hash`` and ``timestamp`` of what was sent last, ``status``, the vendor's ``note`` and
        ``created_at``; and ``transaction``, what the wallet at the settlement address has to sign of it still; None
        once all is sent, or it is cancelled.
    """
    return [describe_refund(money, each) for each in money.refunds]


def describe_transfers(money: Money) -> list[dict[str, Any]]:
    """Describe what reached the merchant for an order, oldest first, with what is left to send back of each."""
    return [_describe_transfer(money, row) for row in money.received]


def _describe_transfer(money: Money, row: Payment) -> dict[str, Any]:
    origin = money.find_origin(row)
    return {
        "id": row.public_id,
        "chain_id": row.chain_id,
        "hash": row.tx_hash,
        "timestamp": format_time(row.mined_at),
        "token": row.token_address,
        "amount": str(row.amount),
        "amount_left": str(max(0, row.amount - money.asked_back(row.id))),
        "from": "" if origin is None else origin.sender,
        "quoted": None if origin is None else describe_quoted(money.find_quote(origin), origin),
        "evidence": row.evidence,
        "status": row.state,
    }


def describe_refund(money: Money, refund: Refund) -> dict[str, Any]:
    """Describe one of them."""
    sent, unsent = money.list_sent(refund), money.count_unsent(refund)
    return {
        "id": name_refund(refund),
        "transfer": money.find_public_id(refund.payment_id),
        "chain_id": refund.chain_id,
        "token": refund.token_address,
        "amount": str(refund.amount),
        "amount_sent": str(money.count_sent(refund)),
        "to": refund.recipient,
        "hash": sent[-1].tx_hash if sent else "",
        "timestamp": format_time(sent[-1].mined_at) if sent else None,
        "status": find_status(money, refund),
        "note": refund.note,
        "created_at": format_time(refund.created_at),
        "transaction": _build_transaction(refund, unsent) if unsent else None,
    }


def find_status(money: Money, refund: Refund) -> RefundStatus:
    """Return where a refund stands."""
    if money.count_sent(refund) < refund.amount:
        return RefundStatus.CANCELLED if refund.cancelled_at else RefundStatus.REQUESTED
    return RefundStatus.FINAL if money.is_final(refund) else RefundStatus.SENT


def name_refund(refund: Refund) -> str:
    """Return the id of a refund: random, and unlike its key in the database it says nothing of others."""
    return f"{IdPrefix.REFUND}_{bytes(refund.reference).hex()}"


def _build_transaction(refund: Refund, amount: int) -> Mapping[str, Any]:
    token = Token(chain_id=refund.chain_id, address=refund.token_address, symbol="", decimals=0)
    call = append_reference(make_transfer(token, refund.recipient, amount), refund.reference)
    return {
        "chain_id": call.chain_id,
        "from": refund.sender,
        "to": call.to,
        "value": hex(call.value),
        "data": "0x" + call.data.hex(),
    }


def describe_refund_change(action: AuditAction, refund: Refund) -> Change:
    """Say what a vendor asked for, to be written down."""
    what = {
        "order_id": refund.order_id,
        "chain_id": refund.chain_id,
        "token": refund.token_address,
        "amount": str(refund.amount),
        "to": refund.recipient,
    }
    is_asked = action == AuditAction.REFUND_REQUESTED
    return Change(
        action=action,
        subject=name_refund(refund),
        vendor_id=refund.vendor_id,
        env_mode=refund.env_mode,
        before={} if is_asked else what,
        after=what if is_asked else {},
    )
