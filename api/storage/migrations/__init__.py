"""Alembic migrations, and what the service asks of them.

May import `storage.patience`, `storage.sqlite`, `storage.tables` and `storage.types`. Begin with `env.py`.
"""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config as AlembicConfig
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from api.storage.migrations.compatibility import SchemaState, find_oldest, read_state

LOCK_TRIES, LOCK_PAUSE_S = 60, 0.5
"""How often a migration is tried whose locks others hold, and how long between."""
LOCK_NOT_AVAILABLE = "55P03"
FILE_BUSY = "SQLITE_BUSY"


class NotRolling(Exception):
    """An upgrade would take the schema away from processes that are running."""


def make_alembic_config(engine: Engine) -> AlembicConfig:
    """Return a configuration that runs on `engine`."""
    config = _find_scripts()
    config.attributes["engine"] = engine
    return config


def _find_scripts() -> AlembicConfig:
    config = AlembicConfig()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config


def upgrade(engine: Engine) -> str:
    """Bring the schema up to date and return its revision.

    A migration that does not get a lock soon gives way to the service that is running, and is tried again.
    """
    config = make_alembic_config(engine)
    for tries_left in reversed(range(LOCK_TRIES)):
        try:
            command.upgrade(config, "head")
            break
        except OperationalError as error:
            if not tries_left or not _is_locked(error):
                raise
            threading.Event().wait(LOCK_PAUSE_S)
    return find_latest_revision()


def _is_locked(error: OperationalError) -> bool:
    """Whether somebody else held what was asked for: on PostgreSQL a lock, on SQLite the file."""
    names = {getattr(error.orig, name, None) for name in ("sqlstate", "sqlite_errorname")}
    return not names.isdisjoint({LOCK_NOT_AVAILABLE, FILE_BUSY})


def check_schema(engine: Engine) -> SchemaState:
    """Say whether this version works on the database's schema."""
    return read_state(engine, find_latest_revision())


def require_rolling(engine: Engine) -> None:
    """Refuse to upgrade where processes of the database's own version would not work on the new schema.

    Raises
    ------
    NotRolling
        With the remedy.
    """
    found, latest = read_current_revision(engine), find_latest_revision()
    oldest = find_oldest(ScriptDirectory.from_config(make_alembic_config(engine)), latest)
    if found is not None and found < oldest:
        raise NotRolling(
            f"Processes of revision {found} do not work on {latest}, only those from {oldest} on: upgrade by way of a "
            "release in between, or end every process and run `checkout db upgrade`"
        )


@cache
def find_latest_revision() -> str:
    """Return the newest revision that this process knows, also once its files were replaced.

    All migrations are read for that, and each probe asks.
    """
    head = ScriptDirectory.from_config(_find_scripts()).get_current_head()
    if head is None:
        raise RuntimeError("the installation has no migrations; install the package again")
    return head


def read_current_revision(engine: Engine) -> str | None:
    """Return the revision of the database, or None for an empty one."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()
