"""Servers that deployments have around the service. `python -m tests.support.programs` installs what is missing.

Nothing is started but by a test, on loopback.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import requests

PACKAGES = {
    "nginx": "nginx-light",
    "caddy": "caddy",
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "prometheus-alertmanager": "prometheus-alertmanager",
    "amtool": "prometheus-alertmanager",
    "pgbouncer": "pgbouncer",
    "systemd-analyze": "systemd",
}
"""By program."""
FOLDERS = f"/usr/sbin{os.pathsep}/sbin"
PATIENCE_S = 120


def find_program(name: str) -> Path | None:
    """Return a program of this machine, or None."""
    found = shutil.which(name, path=f"{os.environ['PATH']}{os.pathsep}{FOLDERS}")
    return Path(found) if found else None


def get_program(name: str) -> str:
    """Return a program of this machine.

    Raises
    ------
    RuntimeError
        If it is missing; the message has the remedy.
    """
    path = find_program(name)
    if path is None:
        raise RuntimeError(f"No {name} on this machine; `python -m tests.support.programs` installs it")
    return str(path)


@contextmanager
def run_server(
    command: Sequence[str | Path], log: Path, is_ready: Callable[[], bool], settings: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server of a test's own until the block ends; its output goes to a file."""
    with log.open("wb") as told:
        process = subprocess.Popen(list(map(str, command)), stdout=told, stderr=told, env=os.environ | (settings or {}))
    try:
        wait_until(lambda: process.poll() is not None or is_ready(), f"{command[0]} is ready")
        assert process.poll() is None, log.read_text()
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE_S} s until {what}")
        threading.Event().wait(0.05)


def answers(url: str, status: int = 200, **options: object) -> bool:
    """Whether a server answers so."""
    try:
        return requests.get(url, timeout=5, **options).status_code == status  # type: ignore[arg-type]
    except requests.RequestException:
        return False
