"""Servers as processes of their own, and what they spend."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

START_S = 300
STOP_S = 20
QUIET_S = 4
OWN_AND_ENDED = 4
"""Of psutil's times: its own as user and as system, then those of its children that ended."""
IDLE_SHARE = 0.05
"""Processor seconds in a second of a server that only waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server.

    Parameters
    ----------
    url : str
        Where it answers.
    log : Path
        What it writes.
    process : Process
        The one that answers requests.
    """

    url: str
    log: Path
    process: psutil.Process

    def wait_for(self, path: str) -> None:
        """Wait until an address answers well; raises RuntimeError if it does not."""
        _wait(self.url + path, None, self.log)

    def read_seconds(self) -> float:
        """Return the processor time that it and the processes that it forked have used, those that ended included.

        An ended one is counted by its parent, once that has waited for it.
        """
        while True:
            try:
                return sum(sum(each.cpu_times()[:OWN_AND_ENDED]) for each in self._list_forked())
            except psutil.NoSuchProcess:  # it has ended meanwhile, and counts by its parent now
                if not self.process.is_running():
                    raise

    def wait_until_idle(self) -> None:
        """Wait until it does nothing by itself any more, such as making its market ready."""
        end, before, quiet = time.monotonic() + START_S, self.read_seconds(), 0
        while quiet < QUIET_S and time.monotonic() < end:
            time.sleep(1)
            now = self.read_seconds()
            quiet = quiet + 1 if now - before < IDLE_SHARE else 0
            before = now

    def read_megabytes(self) -> float:
        """Return the memory that it and the processes that it forked hold, pages that they share once."""
        return sum(float(each.memory_full_info().pss) for each in self._list_forked()) / 1e6

    def list_megabytes(self) -> list[float]:
        """Return the memory of each process that was started with it: those that share pages count them each."""
        parent = self.process.parent()
        family = [self.process] if parent is None else parent.children(recursive=True)
        return [each.memory_info().rss / 1e6 for each in family]

    def _list_forked(self) -> list[psutil.Process]:
        return [self.process, *self.process.children(recursive=True)]


@contextmanager
def run_beside(command: Sequence[str]) -> Iterator[None]:
    """Run a process that answers nothing until the block ends."""
    started = subprocess.Popen(command)
    try:
        yield
    finally:
        started.terminate()
        started.wait()


def run_once(command: Sequence[str], environment: Mapping[str, str]) -> bytes:
    """Run a process to its end and return what it said; raises CalledProcessError if that is no good one."""
    return subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True).stdout


def find_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(
    command: Sequence[str], port: int, environment: Mapping[str, str], log: Path, part: str = ""
) -> Iterator[Server]:
    """Run a server until the block ends.

    Parameters
    ----------
    part : str
        Word in the command of the child that answers; the started process itself without it.

    Raises
    ------
    RuntimeError
        With the end of its log, if it does not answer.
    """
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        started = subprocess.Popen(
            command, env={**os.environ, **environment}, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        _wait(f"{url}/healthz", started, log)
        parent = psutil.Process(started.pid)
        found = [child for child in parent.children(recursive=True) if part and part in _read_words(child)]
        yield Server(url=url, log=log, process=found[0] if found else parent)
    finally:
        started.send_signal(signal.SIGINT)
        try:
            started.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def _read_words(process: psutil.Process) -> list[str]:
    """Return the words of a process's command; one that gave itself a title has it in one piece."""
    return " ".join(process.cmdline()).split()


def _wait(url: str, process: subprocess.Popen[bytes] | None, log: Path) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end and (process is None or process.poll() is None):
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"{url} does not answer: {log.read_text()[-1000:]}")
