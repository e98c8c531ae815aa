"""PostgreSQL: connections with limits of time, which are asked for anew where the server is gone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from api.storage.direct import DirectPool, DirectPools
from api.storage.patience import connect, leave_standby, note_use, ping_idle
from api.storage.process import name_process

STATEMENT_MS = 15_000
IDLE_MS = 15_000
"""How long a transaction may stand still before its locks are taken from it: its process may hang."""
POOL = {"pool_size": 20, "max_overflow": 10, "pool_timeout": 5, "pool_use_lifo": True}
"""The connection that was given back last is taken first: few processes of the server then do all the work, and theirs
have the statements prepared and their tables at hand."""


def make_postgres_engine(url: URL, lock_wait_ms: int, is_pooled: bool) -> Engine:
    """Make the engine; behind a pooler it asks nothing of a connection that outlives a transaction."""
    limits = _list_limits(lock_wait_ms)
    arguments: dict[str, Any] = {"connect_timeout": 5, "application_name": name_process()}
    if is_pooled:  # the next transaction may be another connection's, where no statement is prepared and no limit set
        arguments["prepare_threshold"] = None
    else:
        arguments["options"] = " ".join(f"-c {name}={value}" for name, value in limits.items())
    engine = create_engine(url, connect_args=arguments, **POOL)
    event.listen(engine, "do_connect", connect)
    event.listen(engine, "connect", note_use)
    event.listen(engine, "checkin", note_use)
    event.listen(engine, "checkout", partial(ping_idle, engine.dialect))
    event.listen(engine, "handle_error", leave_standby)
    if is_pooled:
        event.listen(engine, "begin", partial(_set_limits, limits))
    return engine


def list_postgres_pools(engine: Engine, lock_wait_ms: int, is_pooled: bool) -> DirectPools:
    """Return where statements are asked directly.

    Rows that are written at once are a single statement, which is a transaction by itself. Behind a pooler the limits
    of time are those of a transaction, so one begins for a single statement too.
    """
    limits = _write_limits(_list_limits(lock_wait_ms)) if is_pooled else ""
    singles = DirectPool(engine, begin=limits, isolation="" if is_pooled else "AUTOCOMMIT")
    return DirectPools(
        singles=singles,
        still=DirectPool(engine, begin=limits, isolation="REPEATABLE READ"),
        writers=DirectPool(engine, begin=limits),
        at_once=singles,
    )


def _list_limits(lock_wait_ms: int) -> dict[str, int | str]:
    return {
        "statement_timeout": STATEMENT_MS,
        "lock_timeout": lock_wait_ms,
        "idle_in_transaction_session_timeout": IDLE_MS,
        "timezone": "UTC",
    }


def _write_limits(limits: Mapping[str, int | str]) -> str:
    """Write the statement that sets limits for one transaction."""
    calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in limits.items())
    return f"SELECT {calls}"


def _set_limits(limits: Mapping[str, int | str], connection: Connection) -> None:
    connection.exec_driver_sql(_write_limits(limits))
