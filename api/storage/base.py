"""The declarative base: constraint names are fixed, so that migrations can refer to them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, MetaData, text
from sqlalchemy.orm import DeclarativeBase

from api.storage.types import UtcDateTime


def hold_only(condition: str) -> dict[str, Any]:
    """Let an index hold those rows only."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


class Base(DeclarativeBase):
    """All tables of the service."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: UtcDateTime(),
        dict[str, Any]: JSON(),
        list[dict[str, Any]]: JSON(),
    }
