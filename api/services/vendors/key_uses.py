"""When each API key was used last, written beside the requests."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime, timedelta

import structlog
from sqlalchemy import or_, update
from sqlalchemy.exc import SQLAlchemyError

from api.storage.db import Database
from api.storage.tables import ApiKeyRow

EVERY = timedelta(minutes=1)
"""How often the use of one key is written, by all processes together."""

log = structlog.get_logger(__name__)


class KeyUses:
    """Takes the uses of keys down in memory; a thread of its own writes them, which ends when there are none.

    A request waits for no lock of the database. What can't be written is left to the next use after a minute.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._noted: dict[str, datetime] = {}
        self._waiting: dict[str, tuple[Database, datetime]] = {}
        self._writer: threading.Thread | None = None

    def note(self, database: Database, key_id: str, at: datetime) -> None:
        """Remember that a valid key was used."""
        with self._lock:
            last = self._noted.get(key_id)
            if last is not None and at - last < EVERY:
                return
            self._noted[key_id] = at
            self._waiting[key_id] = database, at
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_waiting, name="key-uses", daemon=True)
                self._writer.start()

    def _write_waiting(self) -> None:
        while True:
            with self._lock:
                waiting, self._waiting = self._waiting, {}
                if not waiting:
                    self._writer = None
                    return
            for database in {id(each): each for each, _ in waiting.values()}.values():
                _write(database, {key_id: at for key_id, (of, at) in waiting.items() if of is database})


def _write(database: Database, uses: Mapping[str, datetime]) -> None:
    try:
        with database.write() as session:
            for key_id, at in sorted(uses.items()):
                is_due = or_(ApiKeyRow.last_used_at.is_(None), ApiKeyRow.last_used_at <= at - EVERY)
                session.execute(
                    update(ApiKeyRow).where(ApiKeyRow.id == key_id, is_due).values(last_used_at=at),
                    execution_options={"synchronize_session": False},
                )
    except SQLAlchemyError as error:
        log.warning("key_uses_not_written", kind=type(error).__name__, count=len(uses))
