"""What Alembic runs: one transaction, with the service's own column types written by name."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import Engine

from api.storage import types
from api.storage.migrations.compatibility import record_oldest
from api.storage.patience import wait_without_end
from api.storage.sqlite import WRITES
from api.storage.tables import Base

LOCK_WAIT_MS = 1_000
"""How long a migration waits for a lock that it needs; then all of it begins anew."""


def render_item(kind: str, item: Any, autogen: AutogenContext) -> str | Literal[False]:
    """Write a custom column type as itself instead of as the type underneath."""
    if kind == "type" and isinstance(item, types.Uint256 | types.UtcDateTime):
        autogen.imports.add("from api.storage import types")
        return f"types.{type(item).__name__}()"
    return False


def migrate(engine: Engine) -> None:
    """Run the migrations whole or not at all; processes that start together take turns."""
    with engine.execution_options(**{WRITES: True}).connect() as connection, wait_without_end(connection):
        context.configure(
            connection=connection,
            target_metadata=Base.metadata,
            render_item=render_item,
            transactional_ddl=True,  # SQLite can, now that its driver no longer begins transactions by itself
        )
        with context.begin_transaction():
            if engine.dialect.name == "postgresql":
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('checkout:migrations'))")
                # Requests queue up behind a table's lock that is waited for, and give up sooner than a migration would.
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {LOCK_WAIT_MS}")
                connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            context.run_migrations()
            record_oldest(connection, context.script)


migrate(context.config.attributes["engine"])
