"""Whether the database can be written: workers that can't write down what they do look as if there were none."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete, text
from sqlalchemy.exc import SQLAlchemyError

from api.services.resources import Resources
from api.storage.db import insert_new
from api.storage.fault_names import NO_ROOM, name_fault
from api.storage.tables import Lease

TRIAL = "trial"
"""Name of a row that is written, and gone before anybody else could see it."""
ROOM = "room"
KEEP = timedelta(seconds=5)
"""How long a trial counts: whoever asks for health must not keep a database busy that is in trouble."""
KEEP_ROOM = timedelta(seconds=15)
"""How long room that was found counts: it is looked for though all seems well."""
_PLACE = text("SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true)")
_SPILL = text(
    "SELECT sum(length(wide)) FROM (SELECT repeat('x', 2000) AS wide FROM generate_series(1, 96) AS row"
    " ORDER BY md5(row::text)) AS sorted"
)
"""Sorts about 200 kB in less memory, so that PostgreSQL writes them to a file on the disk of its tables."""


def explain_fault(fault: str) -> tuple[str, str]:
    """Return what is the matter with a database that refused to be written, and what to do: wherever it is told."""
    if fault.endswith(NO_ROOM):
        return f"has no room to grow ({fault})", "make room on its disk"
    return f"can't be written ({fault})", "make room on its disk, or see who made it read-only or holds its lock"


def try_growing(resources: Resources) -> str:
    """Have PostgreSQL take new room on its disk and give it back; return what stood against it, empty if nothing did.

    On a disk without any, rows that are changed where they lie, as leases are, tell nothing: the log has room in its
    own files, and tables in their blocks, until one has to grow. A row too many would find room that an earlier one
    left, so it is a file that is asked for. SQLite writes everything to one place, where any write tells.
    """
    if resources.database.engine.dialect.name == "sqlite":
        return ""
    try:
        with resources.database.read() as session:
            session.execute(_PLACE)
            session.execute(_SPILL)
    except SQLAlchemyError as error:
        return name_fault(error) if getattr(getattr(error, "orig", None), "sqlstate", "") in NO_ROOM else ""
    return ""


def try_writing(resources: Resources) -> str:
    """Write and take it back, and look for room; return what stood against it, empty if nothing did."""
    try:
        with resources.database.write() as session:  # a full disk refuses nothing but what has to be kept
            made = {"duty": TRIAL, "holder": "", "token": 0, "expires_at": resources.clock.now()}
            insert_new(session, Lease, made)
            session.execute(delete(Lease).where(Lease.duty == TRIAL))
    except SQLAlchemyError as error:
        return name_fault(error)
    return try_growing(resources)


def find_write_fault(resources: Resources) -> str:
    """Return what stood against writing a moment ago, empty if nothing did."""
    return resources.memory.recall(TRIAL, resources.clock.now(), KEEP, lambda: try_writing(resources))


def find_room_fault(resources: Resources) -> str:
    """Return what stood against taking new room a moment ago, empty if nothing did."""
    return resources.memory.recall(ROOM, resources.clock.now(), KEEP_ROOM, lambda: try_growing(resources))
