"""What the service remembers for itself: answers given, jobs run, quotes held, blocks seen."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from api.storage.base import Base


class IdempotencyKey(Base):
    """The answer to a request that may be sent again, written in the transaction that carried the request out."""

    __tablename__ = "idempotency_keys"

    vendor_id: Mapped[str] = mapped_column(ForeignKey("vendors.id"), primary_key=True)
    env_mode: Mapped[str] = mapped_column(String(8), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    body_hash: Mapped[str] = mapped_column(String(64))
    response_body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class JobSlot(Base):
    """A worker's job that ran, or is running, for one slot of time; the key lets no second worker run it."""

    __tablename__ = "job_slots"

    job: Mapped[str] = mapped_column(String(64), primary_key=True)
    slot: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    taken_at: Mapped[datetime] = mapped_column(index=True)


class StoredQuote(Base):
    """A quote given out, until it expires."""

    __tablename__ = "quotes"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    vendor_id: Mapped[str | None] = mapped_column(ForeignKey("vendors.id"))
    order_id: Mapped[str | None] = mapped_column(ForeignKey("payment_orders.id"), index=True)
    body: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class QuotePayer(Base):
    """A wallet that was given transactions for an order's quote; the address in lower case."""

    __tablename__ = "quote_payers"

    order_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    payer: Mapped[str] = mapped_column(String(42), primary_key=True)
    quote_id: Mapped[str] = mapped_column(ForeignKey("quotes.id", ondelete="CASCADE"), primary_key=True, index=True)


class WatchCursor(Base):
    """How far a chain was searched for payments.

    `block_number` is the last block that was read, `final_number` the last one that was final by then, `head_number`
    the newest block that the chain had shown. `reread_number` is the last block that was read again once it was final.
    `can_trace`: whether an endpoint traces transactions; None before that was asked.
    """

    __tablename__ = "watch_cursors"

    env_mode: Mapped[str] = mapped_column(String(8), primary_key=True)
    chain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    block_number: Mapped[int] = mapped_column(BigInteger)
    block_hash: Mapped[str] = mapped_column(String(66))
    final_number: Mapped[int] = mapped_column(BigInteger)
    head_number: Mapped[int] = mapped_column(BigInteger, default=0)
    reread_number: Mapped[int] = mapped_column(BigInteger, default=0)
    can_trace: Mapped[bool | None]
    mined_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class WatchedEndpoint(Base):
    """How an endpoint of a chain fared when its worker looked last; `place` is its number in the settings, from 1.

    `answers`: whether it answered when all were compared. `in_step`: whether its blocks were those of the others.
    `is_of_chain`: whether it has not said that it is of another chain.
    """

    __tablename__ = "watched_endpoints"

    env_mode: Mapped[str] = mapped_column(String(8), primary_key=True)
    chain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    place: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    host: Mapped[str] = mapped_column(String(255))
    answers: Mapped[bool]
    in_step: Mapped[bool]
    is_of_chain: Mapped[bool] = mapped_column(default=True)
    noted_at: Mapped[datetime]


class DoubtfulBlock(Base):
    """A block that may hold more than an endpoint said; it is settled apart while the cursor goes on.

    `reason` says what spoke against it. Where a bridge's code could not read a transaction in it, `bridge` and
    `tx_hash` name the two.
    """

    __tablename__ = "doubtful_blocks"

    env_mode: Mapped[str] = mapped_column(String(8), primary_key=True)
    chain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    hash: Mapped[str] = mapped_column(String(66))
    reason: Mapped[str] = mapped_column(String(64))
    bridge: Mapped[str] = mapped_column(String(128), default="")
    tx_hash: Mapped[str] = mapped_column(String(66), default="")
    tries: Mapped[int] = mapped_column(default=0)
    noted_at: Mapped[datetime]
    next_try_at: Mapped[datetime] = mapped_column(index=True)


class Lease(Base):
    """Who does one of the worker's duties, and until when.

    `token` grows with every holder: what is written with an older one is refused.
    """

    __tablename__ = "leases"

    duty: Mapped[str] = mapped_column(String(64), primary_key=True)
    holder: Mapped[str] = mapped_column(String(128))
    token: Mapped[int] = mapped_column(BigInteger)
    expires_at: Mapped[datetime]


class ArchivedBatch(Base):
    """Events that left the database for a file, with their deliveries and attempts.

    `name` is the file's, `sha256` that of its bytes; all its events were made before `before`.
    """

    __tablename__ = "archived_batches"

    name: Mapped[str] = mapped_column(String(128), primary_key=True)
    sha256: Mapped[str] = mapped_column(String(64))
    events: Mapped[int]
    before: Mapped[datetime]
    archived_at: Mapped[datetime]


class SchemaCompatibility(Base):
    """The oldest version of the service that works on the schema of this revision."""

    __tablename__ = "schema_compatibility"

    revision: Mapped[str] = mapped_column(String(32), primary_key=True)
    oldest: Mapped[str] = mapped_column(String(32))
