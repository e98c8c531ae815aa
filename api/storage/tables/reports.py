"""What payers' wallets say they have sent."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from api.storage.base import Base


class PaymentReport(Base):
    """A transaction of which a payer's wallet said that it pays an order; the chain alone says whether it does.

    For payments that carry no reference. Whoever has the payment URL can report anything, so `payer` must be the
    transaction's own sender before it counts.
    """

    __tablename__ = "payment_reports"

    order_id: Mapped[str] = mapped_column(ForeignKey("payment_orders.id"), primary_key=True)
    chain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    tx_hash: Mapped[str] = mapped_column(String(66), primary_key=True)
    payer: Mapped[str] = mapped_column(String(42))
    reported_at: Mapped[datetime]

    __table_args__ = (Index(None, "chain_id", "tx_hash"),)
