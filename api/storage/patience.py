"""How long PostgreSQL is waited for: its own limits say nothing when it hangs, or when what is between has gone silent.

A server that is stopped, a machine that vanished, or a commit whose standby is away answers nothing at all, and the
limits of time in `db.py` are the server's. Without one of this side a request would hold its thread for ever.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.generators import execute
from psycopg.pq import ExecStatus, TransactionStatus
from sqlalchemy import Connection, Dialect
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

ANSWER_S = 20.0
"""Longer than every limit of the server itself, so that a slow statement is ended there."""
TRUSTED_S = 1.0
"""A connection that was used so lately is taken to be there; if it is not, its request is answered 503."""
READ_ONLY = "25006"
_USED = "used_at"
T = TypeVar("T")


class PatientConnection(psycopg.Connection[Any]):
    """A connection that is given up once an answer takes too long; what it was asked for may still have been done.

    `answer_s` are seconds for each answer; None waits for ever.
    """

    answer_s: float | None = ANSWER_S

    def wait(self, gen: PQGen[T], *args: Any, **options: Any) -> T:
        """Wait for an answer.

        Raises
        ------
        psycopg.OperationalError
            If it takes longer than `answer_s`; the connection is closed then, as nobody knows where it stands.
        """
        options.setdefault("timeout", self.answer_s)
        try:
            return super().wait(gen, *args, **options)
        except psycopg.errors._WaitTimeout:
            self.pgconn.finish()
            raise

    def set_autocommit(self, value: bool) -> None:
        """Set whether each statement is a transaction; where it is so already, nothing has to be found out."""
        if value != self.autocommit:
            super().set_autocommit(value)

    def set_isolation_level(self, value: psycopg.IsolationLevel | None) -> None:
        """Set the isolation of transactions that begin from now on, unless it is that."""
        if value != self.isolation_level:
            super().set_isolation_level(value)

    def rollback(self) -> None:
        """Roll back, and keep the statements that are prepared.

        The driver forgets them all at each rollback, in case a table goes with it on which one is. Tables come by
        migrations here, and reading ends with a rollback: so the server would plan nearly every query anew.

        Raises
        ------
        psycopg.OperationalError
            If it is not answered in time, or the server is gone.
        """
        with self.lock:
            if self.pgconn.transaction_status == TransactionStatus.IDLE:
                return
            self.pgconn.send_query(b"ROLLBACK")
            (answer,) = self.wait(execute(self.pgconn))
        if answer.status != ExecStatus.COMMAND_OK:
            raise psycopg.errors.error_from_result(answer, encoding=self.info.encoding)


def connect(_dialect: Dialect, _record: Any, places: tuple[Any, ...], options: dict[str, Any]) -> PatientConnection:
    """Connect for SQLAlchemy, in place of the driver's own way."""
    return PatientConnection.connect(*places, **options)


def note_use(_driver: DBAPIConnection, record: ConnectionPoolEntry) -> None:
    """Note when a connection was used last: as it is made, and as it comes back to the pool."""
    record.info[_USED] = time.monotonic()


def ping_idle(
    dialect: Dialect, driver: DBAPIConnection, record: ConnectionPoolEntry, _proxy: PoolProxiedConnection
) -> None:
    """See whether a connection still lives that was not used for a moment; asking each time costs a round trip a query.

    Raises
    ------
    InvalidatePoolError
        If it does not; the pool makes another.
    """
    if time.monotonic() - record.info.get(_USED, 0.0) < TRUSTED_S:
        return
    try:
        dialect.do_ping(driver)
    except psycopg.Error as error:
        raise InvalidatePoolError("the connection has gone") from error


def leave_standby(context: ExceptionContext) -> None:
    """Take a server that became read-only for one that is gone: the next connection looks for whoever may be written.

    After a fail-over the one that was asked so far may live on as a standby.
    """
    if getattr(context.original_exception, "sqlstate", None) == READ_ONLY:
        context.is_disconnect = True


@contextmanager
def wait_without_end(connection: Connection) -> Iterator[None]:
    """Wait for as long as it takes for what is asked over a connection within the block, such as a migration."""
    driver = connection.connection.driver_connection
    if not isinstance(driver, PatientConnection):
        yield
        return
    driver.answer_s = None
    try:
        yield
    finally:
        driver.answer_s = ANSWER_S
