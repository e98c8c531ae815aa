"""The file of a SQLite database is moved away, or another comes in its place, while the service runs."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError

from api.storage.db import Database
from api.storage.rows import insert_row
from api.storage.statements import Place
from api.storage.tables import Base, Vendor
from tests.api.conftest import START


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "100% of # it" / "checkout.db"
    found.parent.mkdir()
    return found


@pytest.fixture
def database(file: Path) -> Iterator[Database]:
    made = Database(f"sqlite:///{file}")
    Base.metadata.create_all(made.engine)
    yield made
    made.close()


def add(place: Place, vendor_id: str) -> None:
    insert_row(place, Vendor, id=vendor_id, name=vendor_id, created_at=START)


def add_directly(database: Database, vendor_id: str) -> None:
    with database.write_directly() as place:
        add(place, vendor_id)


def add_by_session(database: Database, vendor_id: str) -> None:
    with database.write() as session:
        session.add(Vendor(id=vendor_id, name=vendor_id, created_at=START))


def list_vendors(database: Database) -> list[str]:
    with database.look() as place:
        return [row[0] for row in place.execute("SELECT id FROM vendors ORDER BY id", ()).fetchall()]


def test_without_its_file_nothing_is_written_and_none_is_made(database: Database, file: Path) -> None:
    """SQLite made an empty one, wrote over the log of the other, and orders were acknowledged into neither."""
    add_directly(database, "ven_1")
    log = file.with_name(f"{file.name}-wal")
    before, away = log.read_bytes(), file.with_name("away")
    file.rename(away)
    for write in (add_directly, add_by_session) * 2:
        with pytest.raises(DBAPIError, match="unable to open database file"):
            write(database, "ven_2")
        with pytest.raises(DBAPIError, match="unable to open database file"):
            list_vendors(database)
    assert not file.exists()
    assert log.read_bytes() == before
    away.rename(file)
    add_by_session(database, "ven_3")
    add_directly(database, "ven_4")
    assert list_vendors(database) == ["ven_1", "ven_3", "ven_4"]


WRITER = """
import sys, threading
from pathlib import Path
from api.storage.db import Database
from api.storage.tables import Base
from tests.api.storage.test_missing_file import add_directly
made = Database(f"sqlite:///{sys.argv[1]}")
Base.metadata.create_all(made.engine)
add_directly(made, "ven_1")
print("written", flush=True)
threading.Event().wait()
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not show the files of a process")
def test_a_file_that_was_deleted_is_saved_with_its_log_from_a_process_that_has_it(tmp_path: Path) -> None:
    """As docs/runbook.md says. A copy of the file alone lacked what lay in the log: here, everything."""
    file, saved = tmp_path / "checkout.db", tmp_path / "saved"
    saved.mkdir()
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        file.unlink()
        process.send_signal(signal.SIGSTOP)
        open_files = Path(f"/proc/{process.pid}/fd")
        deleted = next(each for each in open_files.iterdir() if str(each.readlink()) == f"{file} (deleted)")
        shutil.copy(deleted, saved / "checkout.db")
        shutil.copy(tmp_path / "checkout.db-wal", saved)
    finally:
        process.kill()
        process.communicate()
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    (tmp_path / "checkout.db-shm").unlink()
    again = Database(f"sqlite:///{file}")
    assert list_vendors(again) == ["ven_1"]
    again.close()


def test_another_file_in_its_place_is_the_database(database: Database, file: Path) -> None:
    """As one that was restored: what is written to the one before is lost."""
    add_directly(database, "ven_1")
    with create_engine(f"sqlite:///{file}").connect() as whole:
        whole.exec_driver_sql("VACUUM INTO ?", (str(file.with_name("copy")),))
    add_directly(database, "ven_2")
    for suffix in ("", "-wal", "-shm"):
        file.with_name(f"{file.name}{suffix}").rename(file.with_name(f"old{suffix}"))
    shutil.copy(file.with_name("copy"), file)
    add_directly(database, "ven_3")
    assert list_vendors(database) == ["ven_1", "ven_3"]
