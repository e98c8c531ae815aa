"""Fencing: whoever has lost a duty can write nothing in its name any more, however late he notices."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.storage.tables import Lease

IDLE_MS = 4_000
"""How long a duty's transaction may stand still on PostgreSQL; shorter than a lease, so a stopped holder's locks are
gone when somebody takes over."""


class LeaseLost(Exception):
    """Somebody else does this duty now; nothing was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """The lease under which a process writes.

    Parameters
    ----------
    duty : str
        Key of the lease.
    token : int
        What the lease's token was when the duty was taken over.
    """

    duty: str
    token: int

    def check(self, session: Session) -> None:
        """Refuse the transaction unless the lease still has this token, and keep the token as it is until its end.

        On SQLite the transaction holds the only write lock. On PostgreSQL it locks the lease's row in share mode:
        renewing goes on beside that, taking over waits for it.

        Raises
        ------
        LeaseLost
            If the duty was taken over.
        """
        query = select(Lease.token).where(Lease.duty == self.duty, Lease.token == self.token)
        if session.get_bind().dialect.name == "postgresql":  # in one question, not two
            query = query.add_columns(func.set_config("idle_in_transaction_session_timeout", str(IDLE_MS), True))
        if session.execute(query.with_for_update(read=True, key_share=True)).first() is None:
            raise LeaseLost(f"the duty {self.duty} was taken over; token {self.token} writes no more")
