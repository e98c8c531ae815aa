"""Events, who wants to hear of them, and every attempt to tell them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from api.storage.base import Base, hold_only
from api.storage.types import BigKey

IS_GIVEN_UP = "status IN ('failed', 'cancelled')"
"""Condition of the deliveries in an index of their own: to use it, a query has to have the very same."""


class WebhookEvent(Base):
    """Something that happened to an order or a transfer; `payload` is the text that is sent, to the byte.

    An event that a vendor asked for to try its receiver is about neither. `seq` only grows and is the cursor of
    reconciliation.
    """

    __tablename__ = "events"

    seq: Mapped[int] = mapped_column(BigKey, primary_key=True)
    id: Mapped[str] = mapped_column(String(64), unique=True)
    vendor_id: Mapped[str] = mapped_column(ForeignKey("vendors.id"))
    order_id: Mapped[str | None] = mapped_column(ForeignKey("payment_orders.id"), index=True)
    transfer_id: Mapped[str | None] = mapped_column(String(64))
    type: Mapped[str] = mapped_column(String(32))
    env_mode: Mapped[str] = mapped_column(String(8))
    payload: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]

    __table_args__ = (
        Index(None, "vendor_id", "env_mode", "seq"),
        Index(None, "vendor_id", "env_mode", "type", "seq"),
        {"sqlite_autoincrement": True},
    )


class WebhookSubscription(Base):
    """An address of a vendor that hears of the events of one environment, those of the types in `events`.

    A deleted one keeps its row, because its delivery log refers to it.
    """

    __tablename__ = "webhook_subscriptions"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    vendor_id: Mapped[str] = mapped_column(ForeignKey("vendors.id"))
    url: Mapped[str] = mapped_column(Text)
    env_mode: Mapped[str] = mapped_column(String(8))
    events: Mapped[list[str]] = mapped_column(JSON)
    failing_since: Mapped[datetime | None]
    disabled_at: Mapped[datetime | None]
    disabled_reason: Mapped[str | None] = mapped_column(String(64))
    deleted_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]

    __table_args__ = (Index(None, "vendor_id", "env_mode"),)


class WebhookSecret(Base):
    """One of a subscription's secrets, encrypted; the newest has no end, the ones before it sign until theirs."""

    __tablename__ = "webhook_secrets"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    subscription_id: Mapped[str] = mapped_column(ForeignKey("webhook_subscriptions.id"), index=True)
    ciphertext: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]


class WebhookDelivery(Base):
    """Outbox: one event for one subscription, until it is delivered or given up."""

    __tablename__ = "webhook_deliveries"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    event_id: Mapped[str] = mapped_column(ForeignKey("events.id"))
    subscription_id: Mapped[str] = mapped_column(ForeignKey("webhook_subscriptions.id"))
    status: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[int] = mapped_column(default=0)
    next_attempt_at: Mapped[datetime | None]
    lease_until: Mapped[datetime | None]
    response_status: Mapped[int | None]
    response_excerpt: Mapped[str | None] = mapped_column(Text)
    duration_ms: Mapped[int | None]
    created_at: Mapped[datetime]
    delivered_at: Mapped[datetime | None]

    __table_args__ = (
        UniqueConstraint("event_id", "subscription_id"),
        Index(None, "status", "next_attempt_at"),
        Index(None, "subscription_id", "created_at"),
        Index(
            "ix_webhook_deliveries_pending",
            "status",
            "subscription_id",
            "next_attempt_at",
            **hold_only("status = 'pending'"),
        ),
        Index("ix_webhook_deliveries_given_up", "subscription_id", "id", **hold_only(IS_GIVEN_UP)),
    )


class WebhookAttempt(Base):
    """Log of one attempt at a delivery."""

    __tablename__ = "webhook_attempts"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    delivery_id: Mapped[str] = mapped_column(ForeignKey("webhook_deliveries.id"), index=True)
    attempt: Mapped[int]
    at: Mapped[datetime]
    response_status: Mapped[int | None]
    response_excerpt: Mapped[str | None] = mapped_column(Text)
    error: Mapped[str | None] = mapped_column(Text)
    duration_ms: Mapped[int]
