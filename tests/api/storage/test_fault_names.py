"""What logs and health checks call a fault of the database: enough to begin with, and no secret."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from sqlalchemy.exc import OperationalError

from api.storage.db import Database
from api.storage.fault_names import AWAY, SECTIONS, find_section, name_fault

RUNBOOK = Path(__file__).parents[3] / "docs" / "runbook.md"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("me:s3cret@127.0.0.1:9/x", "OperationalError Connection refused"),
        ("me:s3cret@/x?host=/nowhere", "OperationalError No such file or directory"),
        ("me:s3cret@nowhere.invalid/x", "OperationalError failed to resolve host"),
    ],
)
def test_a_database_that_nobody_answers_for_is_told_with_the_reason(place: str, said: str) -> None:
    """A stopped server, a wrong address and a wrong name were all one word."""
    database = Database(f"postgresql+psycopg://{place}")
    with pytest.raises(OperationalError) as error, database.look():
        pass
    database.close()
    assert name_fault(error.value) == said


@pytest.mark.parametrize("reason", ["the database system is starting up", 'role "me" does not exist', "s3cret"])
def test_names_and_values_are_left_out(reason: str) -> None:
    told = name_fault(OperationalError("SELECT 1", None, psycopg.OperationalError(f'FATAL: {reason} for "s3cret"')))
    assert told.startswith("OperationalError")
    assert "s3cret" not in told
    assert '"' not in told


def test_each_section_that_a_fault_leads_to_is_there() -> None:
    text = RUNBOOK.read_text(encoding="utf-8")
    assert all(f"\n### {section}\n" in text for section in (*SECTIONS, AWAY))
    assert find_section("ConnectionTimeout, DiskFull 53100") == "The disk is full"
    assert find_section("OperationalError SQLITE_BUSY") == "It is slow"
    assert find_section("OperationalError SQLITE_CANTOPEN") == "The database's file is gone"
    assert find_section("OperationalError Connection refused") == AWAY
