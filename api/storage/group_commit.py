"""Group commit: what many threads write at the same time is one transaction of SQLite, and one write to the disk.

A transaction of its own for each costs more than its rows: the line of writers, the lock, a commit that writes whole
pages, of which the next one writes most again, and turns of Python's own lock, during which nobody else may write.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from api.storage.direct import DirectPool, Job
from api.storage.statements import DirectConnection


class GroupCommit:
    """Lets threads write together. One of those who wait leads: it writes for all, waits for the disk, and wakes them.

    Who comes meanwhile is in the next group, so a group is as large as the disk is slow, and nobody waits for others
    to come.

    Parameters
    ----------
    pool : DirectPool
        Of the connection that writes.
    wait_for_disk : callable
        Returns once what is committed would outlast a power cut.
    """

    def __init__(self, pool: DirectPool, wait_for_disk: Callable[[], None]) -> None:
        self._pool, self._wait_for_disk = pool, wait_for_disk
        self._lock = threading.Lock()
        self._waiting: list[_Member] = []
        self._is_led = False

    def carry_out(self, job: Job, *, is_lasting: bool) -> None:
        """Return once `job` has written, and that is committed and, if asked for, on the disk; raise what it raised.

        A job that raises leaves nothing, and the others of its group as they would be without it.

        Raises
        ------
        DBAPIError
            As SQLAlchemy raises it. Where there was no connection, or no commit, all members of the group get it.
        TimeoutError
            SQLAlchemy's, if others write for too long.
        """
        member = _Member(job, is_lasting=is_lasting)
        with self._lock:
            self._waiting.append(member)
            member.leads, self._is_led = not self._is_led, True
        if not member.leads:
            member.woken.acquire()
        if member.leads:
            self._lead()
        if member.error is not None:
            raise member.error

    def _lead(self) -> None:
        """Write for all who wait, tell each how it went, and have the next one lead if there is one."""
        group: list[_Member] = []
        try:
            self._write(group)
            if any(member.is_lasting for member in group):
                self._wait_for_disk()
        except BaseException as error:  # whatever it is, nobody is left waiting
            for member in group or self._take_all(group):  # there is no group yet where there was no connection
                member.error = member.error or error
        finally:
            self._end(group)

    def _write(self, group: list[_Member]) -> None:
        """Write for all who wait by the time that there is a connection."""
        with self._pool.open() as direct:
            self._take_all(group)
            is_sound = all(member.try_job(direct) for member in group)
            if is_sound:
                direct.commit()
        if not is_sound and len(group) > 1:
            self._write_one_by_one(group)

    def _write_one_by_one(self, group: list[_Member]) -> None:
        """Give each a transaction of its own, or one would spoil it for others.

        Where there is no connection, nobody after that waits for one as long again.
        """
        left = deque(group)
        try:
            while left:
                with self._pool.open() as direct:
                    left.popleft().write_alone(direct)
        except Exception as error:
            for member in left:
                member.error = error

    def _take_all(self, group: list[_Member]) -> list[_Member]:
        with self._lock:
            group += self._waiting
            self._waiting.clear()
        return group

    def _end(self, group: list[_Member]) -> None:
        with self._lock:
            following = self._waiting[0] if self._waiting else None
            self._is_led = following is not None
        if following is not None:
            following.leads = True
            following.woken.release()
        for member in group:
            member.woken.release()


class _Member:
    """One who writes: its job, what came of it, and what wakes it when that is done or it is to lead."""

    __slots__ = ("error", "is_lasting", "job", "leads", "woken")

    def __init__(self, job: Job, *, is_lasting: bool) -> None:
        self.job, self.is_lasting = job, is_lasting
        self.error: BaseException | None = None
        self.leads = False
        self.woken = threading.Lock()
        self.woken.acquire()

    def try_job(self, direct: DirectConnection) -> bool:
        """Return whether the job went well; keep what it raised otherwise."""
        self.error = None
        try:
            self.job(direct)
        except Exception as error:
            self.error = error
        return self.error is None

    def write_alone(self, direct: DirectConnection) -> None:
        """Do the job and commit; keep what either raised."""
        try:
            if self.try_job(direct):
                direct.commit()
        except Exception as error:
            self.error = error
