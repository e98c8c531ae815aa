"""Writers of one group, and the death of their process at each step of what they do; run by `test_group_deaths`.

Each step is that of a process of its own, which is forked before it has threads. It says on a pipe who was told that he
has written.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from api.storage import sqlite
from api.storage.db import Database
from api.storage.group_commit import GroupCommit
from api.storage.rows import NewRow, insert_rows
from api.storage.statements import DirectConnection, Place, Statement
from api.storage.tables import Vendor

WRITERS = 2
"""Beside one whose fault has each write by himself."""
GRACE_S = 0.01
"""In which whoever was woken too early says so."""
NOW = datetime(2026, 3, 1, tzinfo=UTC)
VENDORS = Statement(select(Vendor.id).order_by(Vendor.id))


def main(url: str) -> None:
    """Print for each step, of each of two groups, who was told, and all that is found afterwards."""
    runs = []
    for is_faulty in (False, True):
        step, is_dead = 0, True
        while is_dead:
            prefix = f"{int(is_faulty)}_{step:03}"
            told, is_dead = _run(url, prefix, step, is_faulty)
            runs.append({"prefix": prefix, "told": told, "is_dead": is_dead})
            step += 1
    with Database(url).look() as place:
        kept = [row.id for row in VENDORS.fetch(place)]
    print(json.dumps({"runs": runs, "kept": kept}))


def _run(url: str, prefix: str, step: int, is_faulty: bool) -> tuple[list[str], bool]:
    """Have a process write, and kill itself at a step; return who was told, and whether it got as far as that step."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _die_at(step)
        _write_together(url, prefix, is_faulty, lambda name: os.write(writing, f"{name}\n".encode()))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read().split()
    return told, os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _die_at(step: int) -> None:
    """Count what goes to the database and the disk, before and after each; kill this process at a number."""
    left = [step]

    def watch(act: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*given: Any) -> Any:
            _count(left)
            done = act(*given)
            _count(left)
            return done

        return watched

    for owner, name in ((DirectConnection, "execute"), (DirectConnection, "commit"), (sqlite, "_write_to_disk")):
        setattr(owner, name, watch(getattr(owner, name)))


def _count(left: list[int]) -> None:
    if threading.current_thread() is threading.main_thread():
        return
    if left[0] == 0:
        time.sleep(GRACE_S)
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1


def _write_together(url: str, prefix: str, is_faulty: bool, tell: Callable[[str], object]) -> None:
    database = Database(url)
    group = cast(GroupCommit, database._direct.at_once)

    def write(name: str) -> None:
        rows = [_make_row(f"{prefix}_{name}_{part}") for part in "ab"]
        if name == "faulty":
            rows[1] = rows[0]
        with suppress(IntegrityError):
            database.write_at_once(lambda place: _insert(place, rows))
            tell(name)

    names = [f"w{number}" for number in range(WRITERS)] + (["faulty"] if is_faulty else [])
    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    with database.write() as session:
        session.connection()  # nobody else writes until this has ended
        for thread in threads:
            thread.start()
        while len(group._waiting) < len(threads):
            time.sleep(0)
    for thread in threads:
        thread.join()


def _insert(place: Place, rows: list[NewRow]) -> None:
    for row in rows:
        insert_rows(place, [row])


def _make_row(name: str) -> NewRow:
    return NewRow(table=Vendor, given={"id": name, "name": name, "created_at": NOW})


if __name__ == "__main__":
    main(f"sqlite:///{Path(sys.argv[1])}")
