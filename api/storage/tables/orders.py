"""Payment orders, what happened to them, and the transfers credited to them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from api.domain.ids import IdPrefix, make_id
from api.storage.base import Base, hold_only
from api.storage.types import BigKey, Uint256


def _make_transfer_id() -> str:
    return make_id(IdPrefix.TRANSFER, datetime.now(UTC))


class PaymentOrder(Base):
    """What a customer is asked to pay.

    The `settlement_…` columns are a copy of the vendor's account at creation, all empty where the order is not
    payable. `settlement_amount` is the whole price, `amount_due` what is still missing of it and `amount_received` what
    came, in the settlement token's smallest units. `start_heights` has the newest block of each chain that was known
    when the order was made, by chain id in decimal digits: what was mined before never counts for it. `version` makes
    a concurrent change fail instead of being overwritten.
    """

    __tablename__ = "payment_orders"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    vendor_id: Mapped[str] = mapped_column(ForeignKey("vendors.id"))
    env_mode: Mapped[str] = mapped_column(String(8))
    status: Mapped[str] = mapped_column(String(16))
    status_reason: Mapped[str] = mapped_column(String(32), default="")
    line_items: Mapped[list[dict[str, Any]]]
    price_currency: Mapped[str] = mapped_column(String(32))
    price_amount: Mapped[int] = mapped_column(Uint256)
    price_decimals: Mapped[int]
    success_callback_url: Mapped[str] = mapped_column(Text)
    cancel_callback_url: Mapped[str] = mapped_column(Text)
    failure_callback_url: Mapped[str] = mapped_column(Text)
    merchant_metadata: Mapped[dict[str, Any]] = mapped_column("metadata")
    settlement_chain_id: Mapped[int | None] = mapped_column(BigInteger)
    settlement_token_address: Mapped[str | None] = mapped_column(String(42))
    settlement_token_symbol: Mapped[str | None] = mapped_column(String(32))
    settlement_token_decimals: Mapped[int | None]
    settlement_address: Mapped[str | None] = mapped_column(String(42))
    settlement_amount: Mapped[int | None] = mapped_column(Uint256)
    amount_due: Mapped[int | None] = mapped_column(Uint256)
    price_rounded_up: Mapped[bool] = mapped_column(default=False)
    amount_received: Mapped[int] = mapped_column(Uint256, default=0)
    start_heights: Mapped[dict[str, Any]] = mapped_column(default=dict)
    payment_reference: Mapped[bytes] = mapped_column(LargeBinary(16), unique=True)
    transaction_hash: Mapped[str] = mapped_column(String(66), default="")
    expires_at: Mapped[datetime]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    version: Mapped[int] = mapped_column()

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy types it as an instance variable
    __table_args__ = (
        Index(None, "vendor_id", "env_mode", "id"),
        Index(None, "vendor_id", "env_mode", "status", "id"),
        Index(None, "vendor_id", "env_mode", "updated_at"),
        Index(None, "status", "expires_at"),
        Index(None, "env_mode", "status", "settlement_address"),
        Index(None, "settlement_chain_id", "settlement_address", "amount_due"),
        Index("ix_payment_orders_settled_tokens", "env_mode", "settlement_chain_id", "settlement_token_address"),
    )


class OrderMetadata(Base):
    """One entry of an order's metadata, to find the order by; `digest` says whose, which key and which value.

    Values may be longer than an index takes, so a hash stands for them.
    """

    __tablename__ = "order_metadata"

    digest: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    order_id: Mapped[str] = mapped_column(ForeignKey("payment_orders.id"), primary_key=True)


class TimelineEntry(Base):
    """One change of an order's status."""

    __tablename__ = "order_timeline"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    order_id: Mapped[str] = mapped_column(ForeignKey("payment_orders.id"), index=True)
    status: Mapped[str] = mapped_column(String(16))
    status_reason: Mapped[str] = mapped_column(String(32), default="")
    at: Mapped[datetime]
    transaction_hash: Mapped[str] = mapped_column(String(66), default="")
    chain_id: Mapped[int | None] = mapped_column(BigInteger)


class Payment(Base):
    """One transfer to a settlement address, or into and out of a bridge on its way there.

    The unique key credits it once in each environment. Without an order it is an unmatched transfer, for vendor and
    operator to assign; `unmatched_reason` says why, and `claimed_order_id` which order its reference named.
    `evidence` says why it belongs to its order. `sender` is the address whose money left, empty where that is more
    than one. `state` follows the transfer through confirmations; a reorganised transfer keeps its row and loses its
    block. `confirmations` is how deep it lay when its block was last compared. `has_receipt_proof`: all receipts of
    its block hash to the block's receipts root; `has_second_opinion`: a second endpoint gave the same receipt, or
    of an inner transfer of coin (`is_inner`), which only a trace shows, the same trace.
    `bridge_id` is the identity of a deposit and of what answers it. Of a deposit, the `promised_…` columns are what
    its bridge is to deliver, and where; `is_built`: it is just what was built for a quote of the order. One whose
    `fill_deadline` has passed for certain, as the chain to be paid on shows, is overdue. `is_rejected`: screening
    refused its sender. `is_after_close`: it came when its order was closed. `is_announced`: the vendor was told that
    it belongs to no order, or that it came for a closed one. `refund_id`: what the merchant sent back, and as which
    refund.
    """

    __tablename__ = "payments"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(64), unique=True, default=_make_transfer_id)
    chain_id: Mapped[int] = mapped_column(BigInteger)
    tx_hash: Mapped[str] = mapped_column(String(66))
    log_index: Mapped[int]
    kind: Mapped[str] = mapped_column(String(16))
    order_id: Mapped[str | None] = mapped_column(ForeignKey("payment_orders.id"), index=True)
    claimed_order_id: Mapped[str | None] = mapped_column(ForeignKey("payment_orders.id"))
    unmatched_reason: Mapped[str] = mapped_column(String(32), default="")
    evidence: Mapped[str] = mapped_column(String(16), default="")
    env_mode: Mapped[str] = mapped_column(String(8))
    token_address: Mapped[str] = mapped_column(String(42))
    amount: Mapped[int] = mapped_column(Uint256)
    sender: Mapped[str] = mapped_column(String(42))
    recipient: Mapped[str] = mapped_column(String(42))
    source_chain_id: Mapped[int | None] = mapped_column(BigInteger)
    source_tx_hash: Mapped[str | None] = mapped_column(String(66))
    bridge_id: Mapped[str] = mapped_column(String(96), default="", index=True)
    promised_chain_id: Mapped[int | None] = mapped_column(BigInteger)
    promised_token_address: Mapped[str | None] = mapped_column(String(42))
    promised_recipient: Mapped[str | None] = mapped_column(String(42))
    promised_amount: Mapped[int | None] = mapped_column(Uint256)
    fill_deadline: Mapped[datetime | None] = mapped_column(index=True)
    is_built: Mapped[bool] = mapped_column(default=False)
    is_overdue: Mapped[bool] = mapped_column(default=False)
    is_rejected: Mapped[bool] = mapped_column(default=False)
    is_inner: Mapped[bool] = mapped_column(default=False)
    is_after_close: Mapped[bool] = mapped_column(default=False)
    is_announced: Mapped[bool] = mapped_column(default=False)
    refund_id: Mapped[int | None] = mapped_column(BigKey)  # no foreign key: the refund refers to the payment it is of
    has_receipt_proof: Mapped[bool] = mapped_column(default=False)
    has_second_opinion: Mapped[bool] = mapped_column(default=False)
    block_number: Mapped[int | None] = mapped_column(BigInteger)
    block_hash: Mapped[str | None] = mapped_column(String(66))
    mined_at: Mapped[datetime]
    confirmations: Mapped[int] = mapped_column(default=0)
    state: Mapped[str] = mapped_column(String(16))
    seen_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (
        UniqueConstraint("env_mode", "chain_id", "tx_hash", "log_index"),
        Index(None, "state", "chain_id"),
        Index(None, "chain_id", "recipient"),
        Index(None, "tx_hash"),
        Index(None, "sender"),
        Index(None, "env_mode", "mined_at", "id"),
        Index("ix_payments_unmatched", "recipient", "public_id", **hold_only("order_id IS NULL")),
        Index("ix_payments_unannounced", "env_mode", "chain_id", **hold_only("order_id IS NULL AND NOT is_announced")),
    )


class Refund(Base):
    """One transfer that a merchant's wallet is asked to make: part of what a payment brought, or all of it, sent back.

    `amount` is in smallest units of the payment's own token. `reference` stands behind the calldata, as an order's
    does behind a payment's. `is_announced`: the vendor was told that its chain has all of it. `cancelled_at`: since
    then the merchant wants to send no more of it. `note` is the merchant's own. `vendor_id` and `env_mode` are those of
    the order, to list refunds by; both are missing where a version before revision 0015 made it.
    """

    __tablename__ = "refunds"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    order_id: Mapped[str] = mapped_column(ForeignKey("payment_orders.id"), index=True)
    payment_id: Mapped[int] = mapped_column(BigKey, ForeignKey("payments.id"), index=True)
    chain_id: Mapped[int] = mapped_column(BigInteger)
    token_address: Mapped[str] = mapped_column(String(42))
    sender: Mapped[str] = mapped_column(String(42))
    recipient: Mapped[str] = mapped_column(String(42))
    amount: Mapped[int] = mapped_column(Uint256)
    reference: Mapped[bytes] = mapped_column(LargeBinary(16), unique=True)
    is_announced: Mapped[bool] = mapped_column(default=False)
    cancelled_at: Mapped[datetime | None]
    note: Mapped[str | None] = mapped_column(Text)
    vendor_id: Mapped[str | None] = mapped_column(String(64))
    env_mode: Mapped[str | None] = mapped_column(String(8))
    created_at: Mapped[datetime]

    __table_args__ = (
        Index("ix_refunds_unannounced", "order_id", **hold_only("NOT is_announced")),
        Index(None, "vendor_id", "env_mode", "created_at", "id"),
        Index("ix_refunds_unowned", "id", **hold_only("vendor_id IS NULL")),
    )
