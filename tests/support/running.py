"""The whole service as processes of its own, started as a user starts it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from click.testing import CliRunner

FIRST_PORT, PORTS = 10_000, 6_000
"""Ports that no system which tests run on gives to outgoing connections."""
_PORTS = cycle(FIRST_PORT + (os.getpid() * 97 + number) % PORTS for number in range(PORTS))
SETTINGS = {"DATABASE_URL", "BASE_URL", "CHECKOUT_URL", "CHECKOUT_API_KEY"}
"""Variables of whoever runs the tests that would reach another service."""


@dataclass(frozen=True, kw_only=True)
class RunningService:
    """Where it is, a test key of its demo vendor, where its data are, and what it has printed once it was ready."""

    url: str
    key: str
    data_dir: Path
    welcome: str

    @property
    def environment(self) -> dict[str, str]:
        """Environment in which commands reach it."""
        bare = {name: value for name, value in os.environ.items() if name not in SETTINGS}
        own = {"DATA_DIR": str(self.data_dir), "CHECKOUT_URL": self.url, "CHECKOUT_API_KEY": self.key}
        return bare | own | {"BASE_URL": self.url, "PYTHONUNBUFFERED": "1"}

    def run(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, in this process: starting another one takes longer than most commands.

        A command that goes on, and the service itself, are processes of their own.
        """
        from api.cli.commands import main

        environment = dict.fromkeys(SETTINGS) | self.environment | settings
        done = CliRunner().invoke(main, words, prog_name="checkout", env=environment)
        return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """Start a command that goes on."""
        command = [sys.executable, "-m", "api.cli", *words]
        return subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


def find_free_port() -> int:
    """Return a port of this machine that nobody listens on, another one each time.

    It lies below those that the system gives to outgoing connections, so none of these can take it before the server
    that it is for has started; each process begins somewhere else.
    """
    while True:
        port = next(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def run_service(data_dir: Path, *, log: Path | None = None, **settings: str) -> Iterator[RunningService]:
    """Start `checkout up` with these settings, and end it as Ctrl-C does; its log goes to a file if one is named."""
    port = find_free_port()
    command = [sys.executable, "-m", "api.cli", "up", "--port", str(port), "--data-dir", str(data_dir)]
    bare = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    with (log or Path(os.devnull)).open("w") as told:
        process = subprocess.Popen(command, env=bare | settings, stdout=subprocess.PIPE, stderr=told, text=True)
    try:
        assert process.stdout is not None
        welcome = ""
        while "Ctrl-C" not in welcome and (line := process.stdout.readline()):
            welcome += line
        found = re.search(r"sk_test_\S+", welcome)
        assert found, welcome
        yield RunningService(url=f"http://127.0.0.1:{port}", key=found[0], data_dir=data_dir, welcome=welcome)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0
