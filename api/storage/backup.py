"""Copies of the database, taken while the service runs."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.engine import URL

from api.storage.private_files import make_private_file

ENVIRONMENT = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "target_session_attrs": "PGTARGETSESSIONATTRS",
}
"""libpq's names for the parts of a URL, which may have several hosts. In the list of processes, where a URL would
stand, everybody reads them."""


class BackupFailed(Exception):
    """No copy was made; the message says why."""


def back_up(url: URL, folder: Path, now: datetime) -> Path:
    """Copy a database as it is at one moment.

    Parameters
    ----------
    url : URL
        Of SQLite, or of PostgreSQL itself; a pooler's will not do.
    folder : Path
        Where the copy goes, under a name with the time; for this account alone.
    now : datetime
        The time.

    Raises
    ------
    BackupFailed
        With the remedy; nothing incomplete is left behind.
    """
    is_file = url.get_backend_name() == "sqlite"
    name = f"checkout-{now.astimezone(UTC):%Y%m%dT%H%M%S%fZ}"
    part, path = folder / f"{name}.part", folder / f"{name}.{'db' if is_file else 'dump'}"
    try:
        make_private_file(part)
        _copy_file(url, part) if is_file else _dump(url, part)
        _keep(part, path)
    except (OSError, sqlite3.Error) as error:
        raise BackupFailed(f"The copy can't be written to {folder}: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    return path


def _copy_file(url: URL, part: Path) -> None:
    if not url.database or not Path(url.database).exists():
        raise BackupFailed(
            f"There is no database at {url.database}; set DATA_DIR or DATABASE_URL as the service has them"
        )
    with closing(sqlite3.connect(url.database)) as source, closing(sqlite3.connect(part)) as target:
        source.backup(target)
        (said,) = target.execute("PRAGMA integrity_check").fetchone()
    if said != "ok":
        raise BackupFailed(f"The database is damaged: {said}")


def _dump(url: URL, part: Path) -> None:
    program = shutil.which("pg_dump")
    if program is None:
        raise BackupFailed("pg_dump is missing: install postgresql-client of the server's version or newer")
    parts = url.get_dialect()().create_connect_args(url)[1]
    own = {variable: str(parts[name]) for name, variable in ENVIRONMENT.items() if name in parts}
    done = subprocess.run(  # noqa: S603 - fixed words
        [program, "--format=custom", "--no-password", f"--file={part}"],
        env=os.environ | own, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise BackupFailed(f"pg_dump failed: {done.stderr.strip()}")


def _keep(part: Path, path: Path) -> None:
    """Give the copy its name once it is on the disk."""
    with part.open("rb") as copied:
        os.fsync(copied.fileno())
    part.rename(path)
