"""What Alembic runs: one transaction, with the service's own column types written by name."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import Engine

from api.storage import types
from api.storage.sqlite import WRITES
from api.storage.tables import Base


def render_item(kind: str, item: Any, autogen: AutogenContext) -> str | Literal[False]:
    """Write a custom column type as itself instead of as the type underneath."""
    if kind == "type" and isinstance(item, types.Uint256 | types.UtcDateTime):
        autogen.imports.add("from api.storage import types")
        return f"types.{type(item).__name__}()"
    return False


def migrate(engine: Engine) -> None:
    """Run the migrations whole or not at all; processes that start together take turns."""
    with engine.execution_options(**{WRITES: True}).connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=Base.metadata,
            render_item=render_item,
            transactional_ddl=True,  # SQLite can, now that its driver no longer begins transactions by itself
        )
        with context.begin_transaction():
            if engine.dialect.name == "postgresql":
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('checkout:migrations'))")
            context.run_migrations()


migrate(context.config.attributes["engine"])
