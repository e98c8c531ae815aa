"""What payers' wallets say: where to look for a payment, and signatures that a payment is theirs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from api.storage.base import Base
from api.storage.types import BigKey


class PaymentHint(Base):
    """A transaction of which somebody said that it pays: a hint where to look, never a proof.

    `is_untraced`: it is the service's own, of a transaction that it has read without a trace of it.
    It is forgotten once it was looked at, or after a while; whoever has a payment URL can report anything.
    """

    __tablename__ = "payment_hints"

    env_mode: Mapped[str] = mapped_column(String(8), primary_key=True)
    chain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    tx_hash: Mapped[str] = mapped_column(String(66), primary_key=True)
    is_untraced: Mapped[bool] = mapped_column(default=False)
    reported_at: Mapped[datetime]
    tries: Mapped[int] = mapped_column(default=0)
    next_try_at: Mapped[datetime]

    __table_args__ = (Index(None, "env_mode", "chain_id", "reported_at"),)


class PaymentClaim(Base):
    """A signature by which an address says that a transfer of its money pays an order; checked before it is kept.

    `log_index` tells the transfers of a transaction apart, as in `Payment`.
    """

    __tablename__ = "payment_claims"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    order_id: Mapped[str] = mapped_column(ForeignKey("payment_orders.id"))
    env_mode: Mapped[str] = mapped_column(String(8))
    chain_id: Mapped[int] = mapped_column(BigInteger)
    tx_hash: Mapped[str] = mapped_column(String(66))
    log_index: Mapped[int]
    account: Mapped[str] = mapped_column(String(42))
    signature: Mapped[str] = mapped_column(Text)
    made_at: Mapped[datetime]

    __table_args__ = (
        UniqueConstraint("order_id", "chain_id", "tx_hash", "log_index", "account"),
        Index(None, "env_mode", "chain_id", "tx_hash"),
    )
