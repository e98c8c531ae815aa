"""Two processes of 16 threads each write to one SQLite file, and others of them are killed: nobody waits in vain."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

from sqlalchemy import text

from api.storage.db import Database

THREADS, ROUNDS, KILLS = 16, 12, 4
WRITER = """
import sys, threading
from sqlalchemy import text
from api.storage.db import Database

url, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
THREADS = int(sys.argv[4])
database = Database(url)
begun = threading.Barrier(THREADS)

def write(thread):
    begun.wait()
    for number in range(rounds):
        thing = f"{name} {thread} {number}"
        with database.write() as session:
            session.execute(text("INSERT INTO things VALUES (:name)"), {"name": thing})
        print(thing + "\\n", end="", flush=True)

threads = [threading.Thread(target=write, args=(number,)) for number in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def start(url: str, name: str, rounds: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, url, name, str(rounds), str(THREADS)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_soon(url: str, name: str) -> list[str]:
    """Kill a writer with all its threads somewhere in their work; return what it said it had written."""
    with start(url, name, 10**6) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(THREADS)]
        process.kill()
        said += process.stdout.readlines()
    return [line.strip() for line in said if line.endswith("\n") and line.strip()]


def test_every_writer_has_its_turns_while_others_are_killed(tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    url = f"sqlite:///{path}"
    database = Database(url)
    with database.write() as session:
        session.execute(text("CREATE TABLE things (name TEXT)"))
    database.close()
    with start(url, "one", ROUNDS) as one, start(url, "other", ROUNDS) as other:
        said = [line for number in range(KILLS) for line in kill_soon(url, f"killed-{number}")]
        ended = [process.communicate() for process in (one, other)]
    assert [error for _, error in ended] == ["", ""]  # nobody was refused for having waited too long
    said += [line for output, _ in ended for line in output.split("\n") if line]
    with sqlite3.connect(path) as connection:
        stored = [name for (name,) in connection.execute("SELECT name FROM things")]
    connection.close()
    assert set(said) <= set(stored)
    assert max(Counter(stored).values()) == 1
    per_thread = Counter(name.rpartition(" ")[0] for name in said if not name.startswith("killed"))
    assert set(per_thread.values()) == {ROUNDS}
    assert len(per_thread) == 2 * THREADS
