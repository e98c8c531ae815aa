"""Up to which number a vendor's events are all known, without holding up who writes new ones.

PostgreSQL numbers rows before they are visible: a reader could see event 8, move its cursor past it, and never see
event 7, which was committed a moment later. So who writes an event holds a lock of its vendor, shared, from before the
number is taken until the transaction ends. A reader does not take that lock: crediting would wait for it, and all
vendors of a chain are credited together. It looks who holds it, and waits until those have ended (ADR 89).
"""

from __future__ import annotations

import hashlib
import time
from typing import cast

from sqlalchemy import BigInteger, Table, bindparam, func, select, text
from sqlalchemy.types import String

from api.domain.env import EnvMode
from api.domain.errors import ServiceUnavailable
from api.storage.db import Database
from api.storage.statements import Statement
from api.storage.tables import WebhookEvent

PATIENCE_S = 2.0
"""For writers that are under way: most take some milliseconds."""
LOOK_S = 0.01
RETRY_S = 1

_EVENTS = cast(Table, WebhookEvent.__table__).c
_IS_MINE = (_EVENTS.vendor_id == bindparam("vendor_id"), _EVENTS.env_mode == bindparam("env_mode"))
_LAST = Statement(select(func.max(_EVENTS.seq)).where(*_IS_MINE))
_WRITERS = Statement(
    text(
        "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
        " AND (CAST(classid AS bigint) << 32) | CAST(objid AS bigint) = :lock"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    .bindparams(bindparam("lock", type_=BigInteger()))
    .columns(virtualtransaction=String)
)


def number_lock(vendor_id: str, env_mode: str) -> int:
    """Return the number of the lock that is held by who writes a vendor's events."""
    digest = hashlib.sha256(f"events:{vendor_id}:{env_mode}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def find_last_settled(database: Database, vendor_id: str, env_mode: EnvMode) -> int:
    """Return the number of a vendor's last event; of those up to it none will become visible any more.

    Who has taken a smaller number held the lock before this one was committed. So of the writers only those matter that
    are under way when it has been seen: later ones take larger numbers. Ask this before the query that reads the
    events, which has to see a later state.

    Raises
    ------
    ServiceUnavailable
        If one of them goes on for long.
    """
    ends = time.monotonic() + PATIENCE_S
    with database.look() as connection:
        ((last,),) = _LAST.fetch(connection, {"vendor_id": vendor_id, "env_mode": env_mode})
    writers = _list_writers(database, vendor_id, env_mode)
    while writers:
        if time.monotonic() > ends:
            raise ServiceUnavailable("An event is being written at this moment; ask again", retry_after_s=RETRY_S)
        time.sleep(LOOK_S)
        writers &= _list_writers(database, vendor_id, env_mode)
    return int(last or 0)


def _list_writers(database: Database, vendor_id: str, env_mode: EnvMode) -> set[str]:
    """List the transactions that write events of a vendor; on SQLite one writes at a time, in the order of numbers."""
    lock = number_lock(vendor_id, env_mode)
    with database.look() as connection:
        rows = _WRITERS.fetch(connection, {"lock": lock}) if connection.dialect.name == "postgresql" else ()
    return {row.virtualtransaction for row in rows}
