"""Markets that quotes were made on."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from api.storage.base import Base


class MarketSnapshot(Base):
    """A market at one moment, for as long as a quote made on it can be replayed.

    `body` is a compressed market file: of the whole market, or, where there is a `base_id`, of the markets that differ
    from that other one.
    """

    __tablename__ = "market_snapshots"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    base_id: Mapped[str | None] = mapped_column(ForeignKey("market_snapshots.id"))
    body: Mapped[bytes] = mapped_column(LargeBinary)
    kept_until: Mapped[datetime] = mapped_column(index=True)
