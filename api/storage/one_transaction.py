"""One transaction for all that a request writes, so that its answer can be kept in it too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Self

from sqlalchemy.orm import Session

from api.storage.db import BY, Database
from api.storage.rows import NewRow, insert_rows
from api.storage.statements import DirectConnection, Place, find_direct


class OneTransaction(Database):
    """A database whose writers share one transaction, which is committed at the end of its `with` block.

    It begins with the first writer. So what a use case asks of chains and other servers before it writes holds no
    lock. If the block raises, nothing of it is kept.

    Rows are held back until something else is written. Where nothing else is, `finish` writes them with the answer, as
    one statement (ADR 81).

    Parameters
    ----------
    database : Database
        Where.
    begin : callable
        Does something in the transaction before the first writer does.
    """

    def __init__(self, database: Database, begin: Callable[[Session], None]) -> None:
        vars(self).update(vars(database))
        self._begin_with = begin
        self._open = ExitStack()
        self._session: Session | None = None
        self._rows: list[NewRow] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session = None
        self._open.__exit__(kind, error, trace)

    @contextmanager
    def write(self, by: str | None = None) -> Iterator[Session]:
        """Give the session of the one transaction, which stays in the name of the key that was given first."""
        if self._session is None:
            session = self._open.enter_context(super().write())
            self._begin_with(session)
            self._session = session
            if self._rows:
                insert_rows(session, self._rows)
        self._session.info[BY] = self._session.info[BY] or by
        yield self._session
        self._session.flush()

    @contextmanager
    def write_directly(self) -> Iterator[DirectConnection]:
        """Give a connection within the one transaction."""
        with self.write() as session:
            yield find_direct(session)

    def write_rows(self, rows: Sequence[NewRow]) -> None:
        """Insert rows within the one transaction, at its end if nothing else is written or read by then."""
        if self._session is None:
            self._rows += rows
        else:
            insert_rows(self._session, rows)

    def finish(self, write_all: Callable[[Place, Sequence[NewRow]], None], write_rest: Callable[[Place], None]) -> None:
        """Write the last of the transaction.

        Parameters
        ----------
        write_all : callable
            Writes everything by one call for rows, if there is nothing but rows, or nothing at all.
        write_rest : callable
            Writes the rest in the transaction that has begun.
        """
        if self._session is None:
            super().write_at_once(lambda place: write_all(place, self._rows))
        else:
            with self.write() as session:
                write_rest(session)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Give a session for reading; once something was written, one that sees it."""
        if self._session is None and not self._rows:
            with super().read() as session:
                yield session
        else:
            with self.write() as session:
                yield session
