"""What operators and merchants changed, and when."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from api.storage.base import Base
from api.storage.types import BigKey


class AuditEntry(Base):
    """One change, written in its own transaction; the service changes and deletes none.

    `actor` is the id of the key that asked for it, or the account of the operating system that ran the command.
    `before` and `after` hold what became otherwise, and no secret.
    """

    __tablename__ = "audit"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)
    actor: Mapped[str] = mapped_column(String(200))
    action: Mapped[str] = mapped_column(String(40))
    vendor_id: Mapped[str | None] = mapped_column(ForeignKey("vendors.id"))
    env_mode: Mapped[str | None] = mapped_column(String(8))
    subject: Mapped[str] = mapped_column(String(128))
    before: Mapped[dict[str, Any]]
    after: Mapped[dict[str, Any]]

    __table_args__ = (Index(None, "vendor_id", "id"),)
