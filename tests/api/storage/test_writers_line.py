"""Processes that write to one SQLite file: each has its turn, whatever becomes of the others."""

from __future__ import annotations

import fcntl
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from api.storage.db import Database
from api.storage.writers_line import SUFFIXES, WritersLine
from tests.support.servers import wait_until

PATIENCE_S = 60.0
"""Longer than any test: whoever goes on does it because it is his turn."""
STANDING_STILL = """
import sys, time
from sqlalchemy import text
from api.storage.db import Database
database = Database(sys.argv[1])
with database.write() as session:
    session.execute(text("INSERT INTO things VALUES ('lost')"))
    print("in its transaction", flush=True)
    time.sleep(600)
"""
WAITING = """
import sys
from pathlib import Path
from api.storage.writers_line import WritersLine
print("begins to wait", flush=True)
WritersLine(Path(sys.argv[1]), 600).enter()
"""
FORKING = """
import os, sys
from pathlib import Path
from api.storage.writers_line import WritersLine
line = WritersLine(Path(sys.argv[1]), 0.05)
line.enter()
child = os.fork()
if child == 0:
    line.leave()
    line.enter()
    line.leave()
    os._exit(0)
os.waitpid(child, 0)
print("still in its turn", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with one table."""
    path = tmp_path / "one.db"
    with closing(Database(f"sqlite:///{path}")) as database, database.write() as session:
        session.execute(text("CREATE TABLE things (name TEXT)"))
    return path


@contextmanager
def closing(database: Database) -> Iterator[Database]:
    try:
        yield database
    finally:
        database.close()


@contextmanager
def running(program: str, path: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Run a program that has said its first line, and kill it."""
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def find_file(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def is_held(path: Path, suffix: str) -> bool:
    with find_file(path, suffix).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def list_things(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        found = [name for (name,) in connection.execute("SELECT name FROM things")]
    connection.close()
    return found


def write_thing(path: Path, name: str, **options: int) -> None:
    with closing(Database(f"sqlite:///{path}", **options)) as database, database.write() as session:
        session.execute(text(f"INSERT INTO things VALUES ('{name}')"))


def test_who_waits_comes_before_who_wants_to_write_again(path: Path) -> None:
    busy, waiting = WritersLine(path, PATIENCE_S), WritersLine(path, PATIENCE_S)
    order: list[str] = []

    def write() -> None:
        waiting.enter()
        order.append("waiting")
        waiting.leave()

    busy.enter()
    for _ in range(50):
        thread = threading.Thread(target=write)
        thread.start()
        wait_until(lambda: is_held(path, "-line"), "it is the next one")
        busy.leave()
        busy.enter()
        order.append("busy")
        thread.join()
    assert order == ["waiting", "busy"] * 50
    busy.leave()
    for line in (busy, waiting):
        line.close()


def test_a_turn_ends_with_the_transaction(path: Path) -> None:
    with closing(Database(f"sqlite:///{path}")) as database:
        with database.write() as session:
            session.execute(text("INSERT INTO things VALUES ('taken back')"))
            assert is_held(path, "-turn")
            session.rollback()
            assert not is_held(path, "-turn")
        with database.write_directly() as direct:
            direct.execute("INSERT INTO things VALUES ('kept')", ()).close()
            assert is_held(path, "-turn")
        assert not is_held(path, "-turn")
    assert list_things(path) == ["kept"]


def test_who_is_killed_in_a_transaction_leaves_its_turn_and_nothing_else(path: Path) -> None:
    with running(STANDING_STILL, f"sqlite:///{path}") as process:
        assert is_held(path, "-turn")
        with pytest.raises(OperationalError, match="locked"):
            write_thing(path, "refused", lock_wait_ms=50)
        process.kill()
        process.wait()
        assert not is_held(path, "-turn")
        write_thing(path, "kept")
    assert list_things(path) == ["kept"]


def test_who_is_killed_while_waiting_leaves_the_line(path: Path) -> None:
    first = WritersLine(path, PATIENCE_S)
    first.enter()
    with running(WAITING, path) as process:
        wait_until(lambda: is_held(path, "-line"), "it is the next one")
        process.kill()
        process.wait()
    first.leave()
    first.close()
    assert [is_held(path, suffix) for suffix in SUFFIXES] == [False, False]
    write_thing(path, "kept")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_who_stands_still_without_a_transaction_does_not_hold_others_up_for_long(path: Path, suffix: str) -> None:
    with find_file(path, suffix).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_thing(path, "kept", lock_wait_ms=100)
    assert list_things(path) == ["kept"]


def test_who_stands_still_in_a_transaction_is_waited_for_until_it_goes_on_or_ends(path: Path) -> None:
    with running(STANDING_STILL, f"sqlite:///{path}") as process:
        process.send_signal(signal.SIGSTOP)
        thread = threading.Thread(target=write_thing, args=(path, "kept"))
        thread.start()
        wait_until(lambda: is_held(path, "-line"), "it is the next one")
        process.kill()
        thread.join()
    assert list_things(path) == ["kept"]


def test_a_forked_process_has_a_place_of_its_own(path: Path) -> None:
    with running(FORKING, path):
        assert is_held(path, "-turn")


def test_without_files_for_a_line_writers_wait_by_the_databases_lock(path: Path) -> None:
    for suffix in SUFFIXES:
        find_file(path, suffix).unlink()
    find_file(path, SUFFIXES[1]).mkdir()
    write_thing(path, "kept")
    assert list_things(path) == ["kept"]


def test_files_in_use_stay_open(path: Path) -> None:
    line = WritersLine(path, PATIENCE_S)
    line.enter()
    line.close()
    assert is_held(path, "-turn")
    line.leave()
    line.close()
    assert not is_held(path, "-turn")
