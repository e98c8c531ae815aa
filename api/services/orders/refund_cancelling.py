"""Cancel a refund that the merchant's wallet has not sent.

A transaction that is signed can't be called back, and a copy of it may be sent years later. So a cancelled refund is
still looked for on its chain, and what is sent of it counts: from then on no other refund offers that money (ADR 103).
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from api.domain.audit import AuditAction
from api.domain.errors import Conflict, NotFound, Problem
from api.services.audit import record_change
from api.services.orders.money import Money
from api.services.orders.refund_views import describe_refund_change, name_refund
from api.storage.tables import Refund

MOST_CANCELLED = 50
"""Refunds of an order that are cancelled and not sent: each is looked for, so there is an end to them."""


def cancel_refund(session: Session, money: Money, refund_id: str, now: datetime) -> None:
    """Cancel what of a refund is not sent; once more changes nothing.

    Parameters
    ----------
    money : Money
        What moved for its locked order.
    refund_id : str
        As `refunds` of the order names it.

    Raises
    ------
    Conflict
        If all of it was sent, or too many of the order are cancelled.
    NotFound
        If the order has no such refund.
    """
    found = next((each for each in money.refunds if name_refund(each) == refund_id), None)
    if found is None:
        raise NotFound(f"This order has no refund {refund_id!r}")
    if money.count_sent(found) >= found.amount:
        raise Conflict("The refund was sent already: what its chain has can't be called back")
    if found.cancelled_at is not None:
        return
    cancelled = [each for each in money.refunds if each.cancelled_at and not money.is_final(each)]
    if len(cancelled) >= MOST_CANCELLED:
        problem = Problem(path="refund", message="Sign it, or leave it open")
        raise Conflict(f"Too many refunds of this order are cancelled, at most {MOST_CANCELLED}", problem)
    session.get_one(Refund, found.id).cancelled_at = now
    record_change(session, describe_refund_change(AuditAction.REFUND_CANCELLED, found), now)
