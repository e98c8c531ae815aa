"""What customers see of a merchant."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from api.storage.base import Base


class VendorBrand(Base):
    """Name, colour, contact and logo of a vendor in one environment; empty is what the vendor has not chosen.

    `logo_digest` is the SHA-256 of `logo`, which is read only where it is served.
    """

    __tablename__ = "vendor_brands"

    vendor_id: Mapped[str] = mapped_column(ForeignKey("vendors.id"), primary_key=True)
    env_mode: Mapped[str] = mapped_column(String(8), primary_key=True)
    display_name: Mapped[str] = mapped_column(String(100), default="")
    accent_color: Mapped[str] = mapped_column(String(7), default="")
    support: Mapped[str] = mapped_column(String(2048), default="")
    logo_type: Mapped[str] = mapped_column(String(16), default="")
    logo_digest: Mapped[str] = mapped_column(String(64), default="", index=True)
    logo: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    updated_at: Mapped[datetime]
