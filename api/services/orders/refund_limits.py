"""What no refund may be, whichever order it is of: one of too many, or one that no vendor can tell from a payment."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.domain.errors import Conflict, InvalidData, Problem
from api.storage.tables import OwnedAddress, PaymentOrder, Refund

MOST_OF_VENDOR = 1_000
"""Refunds of a vendor in one environment that its chains do not have: each is looked for in every block."""


def require_allowed(session: Session, order: PaymentOrder, made: Refund, payer: str) -> None:
    """Refuse a refund that was made just now; the caller's transaction ends with it.

    Parameters
    ----------
    payer : str
        Who paid, where that is certain: what he gets back is what he waits for, also if he is a vendor.

    Raises
    ------
    Conflict
        Naming `transfer`, if the vendor has too many that are not sent.
    InvalidData
        Naming `to`, if that is where a vendor is paid: as a refund it would be told to nobody there.
    """
    owned = select(OwnedAddress.address).where(OwnedAddress.address == made.recipient).limit(1)
    if made.recipient != payer and session.scalar(owned) is not None:
        raise InvalidData.at("to", "Is where a vendor receives payments; give an address of the customer's own")
    unsent = (
        select(Refund.id)
        .join(PaymentOrder, PaymentOrder.id == Refund.order_id)
        .where(
            Refund.is_announced.is_(False),
            PaymentOrder.vendor_id == order.vendor_id,
            PaymentOrder.env_mode == order.env_mode,
        )
    )
    counted = select(func.count()).select_from(unsent.limit(MOST_OF_VENDOR + 1).subquery())
    if session.scalars(counted).one() > MOST_OF_VENDOR:
        problem = Problem(path="transfer", message="Sign the transactions in `refunds` of earlier orders first")
        raise Conflict(f"Too many refunds wait to be sent, at most {MOST_OF_VENDOR}", problem)
