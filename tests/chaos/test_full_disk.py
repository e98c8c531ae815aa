"""The disk is full: orders are refused until there is room, what was acknowledged stays, and reading goes on."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from api.storage.db import Database
from tests.chaos.full_disk import BEFORE, REFUSED

ROOT = Path(__file__).parents[2]


def test_a_full_disk_loses_nothing_and_costs_no_500(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.chaos.full_disk", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    output = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout
    told = json.loads(output.splitlines()[-1])
    print({name: value for name, value in told.items() if name != "acknowledged"})
    assert set(told["during"]) == {"200", "503"}
    assert told["refused"] == REFUSED
    assert told["without_remedy"] == 0
    assert told["read"] == 200
    (doctor,) = told["doctor"]
    assert " can't be written (OperationalError SQLITE_" in doctor
    assert told["ready"].startswith("the database can't be written (OperationalError SQLITE_"), (
        "nobody is called missing"
    )
    assert told["refused_after"] == [], "with room again everything is taken"
    assert len(told["acknowledged"]) > BEFORE + REFUSED
    with closing(sqlite3.connect(tmp_path / "checkout.db")) as connection:
        found = [row[0] for row in connection.execute("SELECT id FROM payment_orders")]
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert sorted(found) == sorted(told["acknowledged"].values())


def test_a_disk_that_takes_no_commit_is_a_database_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(f"sqlite:///{tmp_path / 'checkout.db'}")

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("api.storage.sqlite._write_to_disk", refuse)
    with pytest.raises(OperationalError, match="No space left"), database.write() as session:
        session.execute(text("CREATE TABLE notes (id INTEGER)"))
    database.close()
