"""Alembic migrations, and the three questions the service asks of them.

May import `storage.sqlite`, `storage.tables` and `storage.types`. Begin with `env.py`.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config as AlembicConfig
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine


def make_alembic_config(engine: Engine) -> AlembicConfig:
    """Return a configuration that runs on `engine`."""
    config = AlembicConfig()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["engine"] = engine
    return config


def upgrade(engine: Engine) -> str:
    """Bring the schema up to date and return its revision."""
    config = make_alembic_config(engine)
    command.upgrade(config, "head")
    return find_latest_revision(engine)


def find_latest_revision(engine: Engine) -> str:
    """Return the newest revision that this installation knows."""
    head = ScriptDirectory.from_config(make_alembic_config(engine)).get_current_head()
    if head is None:
        raise RuntimeError("the installation has no migrations; install the package again")
    return head


def read_current_revision(engine: Engine) -> str | None:
    """Return the revision of the database, or None for an empty one."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()
