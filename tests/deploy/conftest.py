"""The service with real servers around it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.deploy.files import read, replace_all, write_nginx
from tests.support.machines import make_machine_folder
from tests.support.running import SETTINGS, RunningService, find_free_port, run_service
from tests.support.servers import answers, get_program, run_server

TOKEN = "of-the-watchman"
KEYLESS = 6
"""Requests a minute that each address has."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """A service, and the addresses of the proxies before it."""

    service: RunningService
    nginx: str
    caddy: str


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The service behind nginx and behind Caddy, with the files of `deploy`."""
    folder = tmp_path_factory.mktemp("site")
    with ExitStack() as stack:
        service = stack.enter_context(
            run_service(
                folder / "data",
                FORWARDED_ALLOW_IPS="127.0.0.1",
                METRICS_TOKEN=TOKEN,
                RATE_LIMIT_KEYLESS=str(KEYLESS),
            )
        )
        port = int(service.url.rpartition(":")[2])
        plain, tls, caddy = find_free_port(), find_free_port(), find_free_port()
        main = write_nginx(folder, plain, tls, (port, port))
        nginx = [get_program("nginx"), "-e", folder / "error.log", "-c", main]
        is_up = partial(answers, f"http://127.0.0.1:{plain}/", 301, allow_redirects=False)
        stack.enter_context(run_server(nginx, folder / "nginx.log", is_up))
        text = replace_all(
            read("caddy/Caddyfile"),
            {"pay.example {": f"http://127.0.0.1:{caddy} {{", ":8001": f":{port}", " 127.0.0.1:8002": ""},
        )
        (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https off\n}\n" + text)
        command = [get_program("caddy"), "run", "--adapter", "caddyfile", "--config", folder / "Caddyfile"]
        home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        stack.enter_context(
            run_server(command, folder / "caddy.log", lambda: answers(f"http://127.0.0.1:{caddy}/readyz/api"), home)
        )
        yield Site(service=service, nginx=f"https://127.0.0.1:{tls}", caddy=f"http://127.0.0.1:{caddy}")


@dataclass
class Processes:
    """Processes of the service, each ended when the test ends."""

    environment: dict[str, str]
    log: Path

    def __post_init__(self) -> None:
        self._started: list[subprocess.Popen[bytes]] = []

    def run(self, *words: str) -> str:
        """Run a command to its end, and return what it prints."""
        command = [sys.executable, "-m", "api.cli", *words]
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start one that goes on."""
        with self.log.open("ab") as told:
            process = subprocess.Popen(
                [sys.executable, "-m", "api.cli", *words], env=self.environment, stdout=told, stderr=told
            )
        self._started.append(process)
        return process

    def end(self) -> None:
        """End them."""
        for process in self._started:
            process.terminate()
        for process in self._started:
            process.wait(60)


def make_environment(**settings: str) -> dict[str, str]:
    """Return this process's environment with settings of a service."""
    return {name: value for name, value in os.environ.items() if name not in SETTINGS} | settings


@pytest.fixture
def machine_folder() -> Iterator[Path]:
    """A folder for machines with PostgreSQL."""
    made = make_machine_folder()
    yield made
    shutil.rmtree(made, ignore_errors=True)
