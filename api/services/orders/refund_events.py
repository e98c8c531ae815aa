"""Tell a vendor that money went back: once for each refund, in the transaction that saw the last of it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from api.domain.events import EventType
from api.domain.payments import COUNTED
from api.services.orders.money import Money
from api.services.orders.refund_views import describe_refund
from api.services.orders.store import make_event
from api.services.routing.token_serializers import checksum
from api.services.webhooks.outbox import publish
from api.storage.tables import PaymentOrder


def announce_refunds(session: Session, order: PaymentOrder, money: Money, now: datetime) -> None:
    """Tell of the refunds of a locked order of which all was sent for good since; by then its status shows them."""
    for refund in money.refunds:
        if not refund.is_announced and money.count_sent(refund, COUNTED) >= refund.amount:
            described = describe_refund(money, refund)
            written = {name: checksum(described[name]) for name in ("token", "to")}
            more = {"refund": described | written}
            publish(session, make_event(order, money, EventType.REFUNDED, now, more))
            refund.is_announced = True
