"""Names of processes that tell a living one from another that got its number later."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

LONGEST_NAME = 15
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
NAMESPACE = Path("/proc/self/ns/pid")
STARTED_FIELD, STATE_FIELD = 19, 0
"""Of ``/proc/<pid>/stat``, counted behind the name in brackets; proc(5)."""
STOPPED = frozenset({"T", "t"})
DEAD = frozenset({"Z", "X", "x"})
"""Nothing of such a process runs any more; its parent has not asked yet how it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process of a machine.

    Parameters
    ----------
    host : str
        Where numbers mean the same processes: a machine since it was started, or a container there. Machines and
        containers often share a name, so it is not their name alone.
    pid : int
        Its number there.
    started : int
        When it started, in the system's ticks since boot; 0 where that is not known.
    """

    host: str
    pid: int
    started: int

    @classmethod
    def find_present(cls) -> Self:
        """Return the process that asks."""
        stat = _read_stat(os.getpid())
        return cls(host=_find_host(), pid=os.getpid(), started=int(stat[STARTED_FIELD]) if stat else 0)

    @classmethod
    def parse(cls, name: str) -> Self | None:
        """Read what `name` wrote; None for anything else."""
        words = name.split()
        if len(words) != 4 or words[0] != "checkout" or not (words[2] + words[3]).isdecimal():
            return None
        return cls(host=words[1], pid=int(words[2]), started=int(words[3]))

    @property
    def name(self) -> str:
        """At most 63 characters, as PostgreSQL's ``application_name`` has room for."""
        return f"checkout {self.host} {self.pid} {self.started}"

    @property
    def is_here(self) -> bool:
        """Whether it runs on this machine now, and is not another one that got its number."""
        stat = _read_stat(self.pid)
        is_same = stat is not None and int(stat[STARTED_FIELD]) == self.started != 0
        return is_same and self.host == _find_host()

    @property
    def has_ended(self) -> bool:
        """Whether it ran here and does not any more; False wherever that can't be told for certain."""
        if self.started == 0 or self.host != _find_host():
            return False
        try:
            os.kill(self.pid, 0)  # sends nothing; where /proc hides the processes of others, this tells nevertheless
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        stat = _read_stat(self.pid)
        return stat is not None and (int(stat[STARTED_FIELD]) != self.started or stat[STATE_FIELD] in DEAD)

    @property
    def is_stopped(self) -> bool:
        """Whether a signal has stopped it."""
        stat = _read_stat(self.pid)
        return stat is not None and stat[STATE_FIELD] in STOPPED


def has_ended(holder: str) -> bool:
    """Whether who held a lease was a process of this machine that has ended; False where that can't be told."""
    process = Process.parse(holder.partition("/")[0])
    return process is not None and process.has_ended


def name_process() -> str:
    """Return the name of the process that asks."""
    return Process.find_present().name


@cache
def _find_host() -> str:
    try:
        place = BOOT_ID.read_text() + str(NAMESPACE.readlink())
    except OSError:  # without /proc, or with parts of it hidden: then nobody may seem to be here, or to have ended
        place = secrets.token_hex(16)
    return f"{socket.gethostname()[:LONGEST_NAME]}-{hashlib.sha256(place.encode()).hexdigest()[:8]}"


def _read_stat(pid: int) -> list[str] | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # no such process, or a system without /proc
        return None
