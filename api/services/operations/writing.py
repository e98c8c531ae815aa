"""Whether the database can be written: workers that can't write down what they do look as if there were none."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.exc import SQLAlchemyError

from api.services.resources import Resources
from api.storage.db import insert_new
from api.storage.fault_names import name_fault
from api.storage.tables import Lease

TRIAL = "trial"
"""Name of a row that is written, and gone before anybody else could see it."""
KEEP = timedelta(seconds=5)
"""How long a trial counts: whoever asks for health must not keep a database busy that is in trouble."""


def try_writing(resources: Resources) -> str:
    """Write and take it back; return what stood against it, empty if nothing did."""
    try:
        with resources.database.write() as session:  # a full disk refuses nothing but what has to be kept
            made = {"duty": TRIAL, "holder": "", "token": 0, "expires_at": resources.clock.now()}
            insert_new(session, Lease, made)
            session.execute(delete(Lease).where(Lease.duty == TRIAL))
    except SQLAlchemyError as error:
        return name_fault(error)
    return ""


def find_write_fault(resources: Resources) -> str:
    """Return what stood against writing a moment ago, empty if nothing did."""
    return resources.memory.recall(TRIAL, resources.clock.now(), KEEP, lambda: try_writing(resources))
