"""Column types that keep their value on SQLite and on PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, Numeric, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

from api.domain.money import UINT256_DIGITS, UINT256_MAX

BigKey = BigInteger().with_variant(Integer(), "sqlite")
"""A counted primary key; SQLite counts in INTEGER columns only."""


class Uint256(TypeDecorator[int]):
    """An amount of 0 … 2^256-1.

    NUMERIC(78,0) on PostgreSQL. On SQLite, whose numbers end at 2^63, text of 78 digits: comparing and ordering
    in SQL stays right, arithmetic belongs in Python.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Decimal] | TypeEngine[str]:
        """Choose the column's type."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(Numeric(UINT256_DIGITS, 0))
        return dialect.type_descriptor(Text())

    def process_bind_param(self, value: int | None, dialect: Dialect) -> Decimal | str | None:
        """Write an integer, or refuse what a contract could not hold."""
        if value is None:
            return None
        if not 0 <= value <= UINT256_MAX:
            raise ValueError(f"{value} is not within 0 … 2^256-1")
        return Decimal(value) if dialect.name == "postgresql" else f"{value:0{UINT256_DIGITS}d}"

    def process_result_value(self, value: Decimal | str | None, dialect: Dialect) -> int | None:
        """Read an integer."""
        return None if value is None else int(value)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware moment in UTC; SQLite keeps none of the zone, so it is put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Write a moment in UTC, or refuse one without a time zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored moment needs a time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Read an aware moment."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
