"""Connections of a pool for statements that are asked directly, and the transactions around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Engine
from sqlalchemy.pool import PoolProxiedConnection

from api.storage.statements import DirectConnection, wrap_error

Job = Callable[[DirectConnection], None]
"""Writes all that one caller has to write. It may be called again after what it wrote was rolled back."""


class Writer(Protocol):
    """Carries out jobs."""

    def carry_out(self, job: Job, /, *, is_lasting: bool) -> None:
        """Return once `job` has written, and that is committed and, if asked for, would outlast a power cut.

        Raises what the job raised.
        """
        ...


class DirectPool:
    """Gives connections of an engine's pool, each with a transaction of one kind, or without one.

    Parameters
    ----------
    engine : Engine
        Whose pool.
    begin : str
        What begins a transaction, beside what the driver does by itself.
    isolation : str
        As SQLAlchemy names it, where it is not the driver's own.
    """

    def __init__(self, engine: Engine, *, begin: str = "", isolation: str = "") -> None:
        self._engine, self._begin, self._isolation = engine, begin, isolation

    @contextmanager
    def open(self) -> Iterator[DirectConnection]:
        """Give a connection; what was written and not committed at the end of the block is not kept.

        Raises
        ------
        DBAPIError
            As SQLAlchemy raises it.
        TimeoutError
            SQLAlchemy's, if others hold all connections for too long.
        """
        dialect = self._engine.dialect
        try:
            held = self._engine.raw_connection()
        except dialect.loaded_dbapi.Error as error:
            raise wrap_error(dialect, error, None, is_gone=False) from error
        try:
            yield self._start(held)
        finally:
            self._end(held)

    @contextmanager
    def write(self) -> Iterator[DirectConnection]:
        """Give a connection that commits at the end of the block, unless that raises."""
        with self.open() as direct:
            yield direct
            direct.commit()

    def carry_out(self, job: Job, *, is_lasting: bool) -> None:
        """Have a job write over a connection, and commit unless that raises; a server's commit lasts in any case."""
        with self.write() as direct:
            job(direct)

    def _start(self, held: PoolProxiedConnection) -> DirectConnection:
        direct = DirectConnection(held.dbapi_connection, held, self._engine)
        if self._isolation:
            self._engine.dialect.set_isolation_level(held.dbapi_connection, self._isolation)  # type: ignore[arg-type,unused-ignore]
        if self._begin:
            direct.execute(self._begin, ()).close()
        return direct

    def _end(self, held: PoolProxiedConnection) -> None:
        """Give a connection back as it was taken."""
        dialect = self._engine.dialect
        if self._isolation and held.is_valid:
            try:
                dialect.do_rollback(held)
                dialect.reset_isolation_level(held.dbapi_connection)  # type: ignore[arg-type,unused-ignore]
            except dialect.loaded_dbapi.Error as error:  # its server is gone, and whatever was asked has its answer
                held.invalidate(error)
        held.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectPools:
    """Where single queries, queries of one state, what is written, and what is written at once are asked directly."""

    singles: DirectPool
    still: DirectPool
    writers: DirectPool
    at_once: Writer
