"""Whether somebody does each of the worker's duties, and whether every chain is read, for health checks and metrics."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select

from api.domain.duties import PRESENCE, Duty, find_duty
from api.domain.env import EnvMode
from api.services.operations.shares import list_shares
from api.services.operations.writing import explain_fault, find_room_fault, find_write_fault
from api.services.resources import Resources
from api.storage.db import read_database_time
from api.storage.process import Process, has_ended
from api.storage.statements import Statement
from api.storage.tables import Lease, WatchCursor

LAPSED = timedelta(seconds=15)
"""How long a lease may have expired before that is told: taking over takes a few seconds."""
MISSED = timedelta(seconds=3)
"""How long the leases of all workers may have expired before nobody counts as alive to take over: after a database
that hung they are renewed within a second."""
UNREAD = timedelta(seconds=60)
"""How long a chain may not have been read before that is told."""
ESSENTIAL = frozenset({Duty.CHAINS, Duty.EXPIRY, Duty.WEBHOOKS})
"""Without these no payment gets to the merchant's knowledge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerHealth:
    """How the worker's duties and the chains fare.

    Parameters
    ----------
    shares : mapping of str to timedelta or None
        How long ago each share's lease expired: zero while somebody does it, None if nobody ever did.
    workers : mapping of str to timedelta
        How long ago each worker should have been heard of, by machine and process; zero for one that lives. Who ended
        in peace is not there.
    chains : mapping of (str, int) to timedelta or None
        How long ago each connected chain was read up to its head or on the way there, by environment and chain id; None
        if it never was.
    untraced : dict of EnvMode to list of int
        The chains whose endpoints were asked for a trace lately and gave none: coin that contracts send can't be seen
        there.
    deserted : frozenset of str
        The shares of workers that are gone without having left, while none is there to take over.
    ended : frozenset of str
        The workers that ran on this machine and do not any more, though they have not left; of others it can't be told.
    write_fault : str
        Why the database can't be written; empty if it can. Whether it has room to grow is always looked at; whether it
        takes a row only where something is left undone: workers write down again and again that they are there.
    """

    shares: dict[str, timedelta | None]
    workers: dict[str, timedelta]
    chains: dict[tuple[str, int], timedelta | None]
    untraced: dict[EnvMode, list[int]]
    deserted: frozenset[str] = frozenset()
    ended: frozenset[str] = frozenset()
    write_fault: str = ""

    @property
    def undone(self) -> tuple[str, ...]:
        """What nobody does, and nobody is about to do: duties, or shares of one that others do the rest of."""
        free = {share for share, lapsed in self.shares.items() if lapsed is None or lapsed > LAPSED}
        free |= self.deserted & self.shares.keys()
        whole = {*map(find_duty, free)} - {*map(find_duty, self.shares.keys() - free)}
        return (*sorted(whole), *sorted(each for each in free if find_duty(each) not in whole))

    @property
    def silent(self) -> dict[str, timedelta]:
        """Which workers hang, or have ended without leaving, while others do what they did."""
        return {name: since for name, since in self.workers.items() if since > LAPSED}

    @property
    def is_essential_undone(self) -> bool:
        """Whether payments are kept from the merchant's knowledge: nobody does a share of an essential duty.

        Without room to grow nobody can, however often workers write down that they are there.
        """
        return bool(self.write_fault) or any(find_duty(each) in ESSENTIAL for each in self.undone)

    @property
    def unread(self) -> tuple[tuple[str, int], ...]:
        """The chains that have not been read for long."""
        return tuple(chain for chain, age in self.chains.items() if age is None or age > UNREAD)

    @property
    def problems(self) -> tuple[str, ...]:
        """What an operator must look at, in words that strangers may read: they name no machine."""
        if self.write_fault:
            what, remedy = explain_fault(self.write_fault)
            result = "orders and payments are not taken"
            if self.undone:
                result = f"no worker can do {', '.join(self.undone)}, whether or not one runs"
            return (f"the database {what}, so {result}: {remedy}",)
        undone = [f"nobody does the duty {duty}: start `checkout worker`" for duty in self.undone]
        unread = [
            f"chain {chain_id} ({env_mode}) has not been read for over {UNREAD.seconds} s: check its endpoints"
            for env_mode, chain_id in self.unread
        ]
        return (*undone, *unread, *itertools.starmap(self._describe_silent, self.silent.items()))

    def _describe_silent(self, name: str, since: timedelta) -> str:
        what = "it was killed; start it anew unless that is done" if name in self.ended else "see whether it hangs"
        said = f"a worker has not been heard of for {int(since.total_seconds())} s and has not left"
        return f"{said}, `checkout doctor` names it: {what}"


_LEASES = Statement(select(Lease.__table__))
_CURSORS = Statement(select(WatchCursor.__table__).order_by(WatchCursor.__table__.c.chain_id))


def check_worker_health(resources: Resources) -> WorkerHealth:
    """Ask the database who does what, and how far the chains are read.

    Raises
    ------
    sqlalchemy.exc.OperationalError
        If it does not answer.
    """
    now = resources.clock.now()
    with resources.database.look() as place:
        held = _LEASES.fetch(place)
        rows = _CURSORS.fetch(place)
        database_time = read_database_time(place)
    leases = {row.duty: row.expires_at for row in held}
    none, cursors = timedelta(), {(row.env_mode, row.chain_id): row.updated_at for row in rows}
    blind = [row for row in rows if row.can_trace is False]
    chains = [
        (str(env_mode), chain_id)
        for env_mode, ledger in resources.ledgers.items()
        for chain_id in sorted(ledger.chain_ids)
    ]
    health = WorkerHealth(
        shares={
            share: max(database_time - leases[share], none) if share in leases else None
            for share in list_shares(resources)
        },
        workers={
            _name_worker(row.holder): max(database_time - row.expires_at, none)
            for row in held
            if row.duty.startswith(PRESENCE)
        },
        chains={chain: max(now - cursors[chain], none) if chain in cursors else None for chain in chains},
        deserted=_find_deserted(held, database_time),
        ended=frozenset(
            _name_worker(row.holder) for row in held if row.duty.startswith(PRESENCE) and has_ended(row.holder)
        ),
        untraced={mode: [row.chain_id for row in blind if row.env_mode == mode] for mode in EnvMode},
    )
    find = find_write_fault if health.undone else find_room_fault
    return replace(health, write_fault=find(resources))


def forget_silent_workers(resources: Resources) -> int:
    """Forget the workers that hang or have ended without leaving, and return how many there were.

    In a copy of a database that was restored they are those of the old one, which nobody has to look for.
    """
    with resources.database.write() as session:
        before = read_database_time(session) - MISSED
        silent = delete(Lease).where(Lease.duty.startswith(PRESENCE, autoescape=True), Lease.expires_at < before)
        return len(session.scalars(silent.returning(Lease.duty)).all())


def _find_deserted(held: Sequence[Any], now: datetime) -> frozenset[str]:
    """Return the shares of workers that are gone, where none is left that could take them over.

    One that ended on this machine is gone for certain, any other once its lease on itself was not renewed. Who leaves
    in peace frees its shares, and is soon followed by another as a rule: for that there is `LAPSED`.
    """
    workers = [row for row in held if row.duty.startswith(PRESENCE)]
    if any(now - row.expires_at <= MISSED and not has_ended(row.holder) for row in workers):
        return frozenset()
    gone = {row.holder for row in workers}
    return frozenset(row.duty for row in held if row.holder in gone)


def _name_worker(holder: str) -> str:
    process = Process.parse(holder.partition("/")[0])
    return holder if process is None else f"{process.host} {process.pid}"
