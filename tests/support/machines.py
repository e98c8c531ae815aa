"""Machines with PostgreSQL of their own, which may be stopped, killed, copied, and lose their disks."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.support.databases import find_postgres_programs
from tests.support.running import find_free_port
from tests.support.servers import PATIENCE_S, wait_until

ACCOUNT = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
"""PostgreSQL does not run as root."""


class Machine:
    """A machine with PostgreSQL, whose disk may be lost."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.data, self.log = folder, folder / name, folder / f"{name}.log"
        self.port = find_free_port()
        self._settings: tuple[str, ...] = ()
        self._is_standby = False
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def place(self) -> str:
        return f"host=127.0.0.1 port={self.port} user=checkout dbname=postgres"

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://checkout@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *words: str | Path) -> None:
        """Run one of PostgreSQL's programs to its end."""
        subprocess.run(self.name_program(program, *words), check=True, capture_output=True, **as_account())

    def name_program(self, program: str, *words: str | Path) -> list[str]:
        return [str(find_postgres_programs() / program), *map(str, words)]

    def make(self) -> None:
        """Make an empty database."""
        self.run("initdb", "-D", self.data, "-U", "checkout", "-A", "trust")

    def start(self, *settings: str, is_standby: bool = False) -> None:
        """Start the server, and wait until it answers; unless it is a standby, until it takes orders."""
        self._settings, self._is_standby = settings, is_standby
        words = [word for setting in settings for word in ("-c", setting)]
        own = ("-D", self.data, "-k", self.folder, "-h", "127.0.0.1", "-p", str(self.port))
        with self.log.open("ab") as told:
            server = subprocess.Popen(
                self.name_program("postgres", *own, *words), stdout=told, stderr=told, **as_account()
            )
        self._server = server
        try:
            wait_until(lambda: server.poll() is not None or self.says_recovery() is is_standby, "PostgreSQL answers")
        except TimeoutError as error:
            raise TimeoutError(self.log.read_text()) from error
        if server.poll() is not None:
            raise RuntimeError(f"PostgreSQL ended: {self.log.read_text()}")

    def start_again(self) -> None:
        """Start it as it was started."""
        self.start(*self._settings, is_standby=self._is_standby)

    def says_recovery(self) -> bool | None:
        """Whether it is a standby; None if it does not answer."""
        try:
            with psycopg.connect(self.place, connect_timeout=2) as connection:
                return connection.execute("SELECT pg_is_in_recovery()").fetchone() == (True,)
        except psycopg.OperationalError:
            return None

    def lose(self) -> None:
        """End without warning, and lose the disk."""
        self.kill()
        shutil.rmtree(self.data)

    def kill(self) -> None:
        """Kill every process of the server."""
        everybody = self.list_processes()
        self.send(signal.SIGKILL)
        psutil.wait_procs(everybody, PATIENCE_S)
        if self._server is not None:
            self._server.wait(PATIENCE_S)

    def send(self, number: int) -> None:
        """Send every process of the server a signal."""
        for process in self.list_processes():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def list_processes(self) -> list[psutil.Process]:
        """List the server's processes, the one that starts the others first."""
        with suppress(psutil.NoSuchProcess):
            if self._server is not None and self._server.poll() is None:
                first = psutil.Process(self._server.pid)
                return [first, *first.children(recursive=True)]
        return []

    def stop(self, number: int = signal.SIGQUIT) -> None:
        if self._server is not None and self._server.poll() is None:
            self._server.send_signal(number)
            self._server.wait(PATIENCE_S)


def as_account() -> dict[str, Any]:
    return {"user": ACCOUNT, "cwd": "/"} if os.geteuid() == 0 else {}


def make_machine_folder() -> Path:
    """Make a folder whose path is short enough for a socket."""
    made = Path(tempfile.mkdtemp(prefix="pg"))
    shutil.chown(made, ACCOUNT)
    return made
