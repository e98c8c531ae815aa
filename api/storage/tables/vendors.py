"""Vendors, their keys, and where they want their money."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from api.storage.base import Base


class Vendor(Base):
    """A merchant."""

    __tablename__ = "vendors"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    created_at: Mapped[datetime]


class ApiKeyRow(Base):
    """A key of one vendor in one environment; only its SHA-256 is kept.

    `scopes` has words with spaces between; `last_used_at` is right to the minute.
    """

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    vendor_id: Mapped[str] = mapped_column(ForeignKey("vendors.id"), index=True)
    env_mode: Mapped[str] = mapped_column(String(8))
    name: Mapped[str] = mapped_column(String(100))
    scopes: Mapped[str] = mapped_column(String(200))
    key_hash: Mapped[str] = mapped_column(String(64), unique=True)
    last4: Mapped[str] = mapped_column(String(4))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class SettlementAccount(Base):
    """Token and address in which a vendor receives one currency.

    `token_decimals` is repeated here because the token need not be a listed one.
    """

    __tablename__ = "settlement_accounts"

    vendor_id: Mapped[str] = mapped_column(ForeignKey("vendors.id"), primary_key=True)
    env_mode: Mapped[str] = mapped_column(String(8), primary_key=True)
    currency: Mapped[str] = mapped_column(String(32), primary_key=True)
    chain_id: Mapped[int] = mapped_column(BigInteger)
    token_address: Mapped[str] = mapped_column(String(42))
    token_decimals: Mapped[int]
    address: Mapped[str] = mapped_column(String(42))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class OwnedAddress(Base):
    """Whose a settlement address on a chain is: one vendor's, in one environment, also once its account is removed."""

    __tablename__ = "owned_addresses"

    chain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    address: Mapped[str] = mapped_column(String(42), primary_key=True)
    vendor_id: Mapped[str] = mapped_column(ForeignKey("vendors.id"), index=True)
    env_mode: Mapped[str] = mapped_column(String(8))
    created_at: Mapped[datetime]
