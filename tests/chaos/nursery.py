"""Start the service's processes by forking one that has imported everything, so that a killed one is back at once.

A nursery has the settings of one test. All of them are forked from one process too, which imports for all tests of a
run: that takes longer than most of what is killed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import uvicorn

from api import create_app
from api.config import Config
from api.context import build_resources
from api.logs import configure_logging
from api.serving.asgi import compose
from api.serving.connections import EndingProtocol
from api.startup.start_checks import check_start
from api.worker.process import run_worker

STDERR = 2
_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload([__name__])


class Nursery:
    """Forks processes that have settings in common.

    Parameters
    ----------
    environment : mapping of str to str
        All of their environment.
    log : Path
        Where they say what goes wrong; without one, where this process does.
    """

    def __init__(self, environment: Mapping[str, str], log: Path | None = None) -> None:
        self._told, theirs = _FORKS.Pipe()
        self._process = _FORKS.Process(target=_tend, args=(dict(environment), theirs, log))
        self._process.start()
        theirs.close()

    def fork(self, part: str) -> int:
        """Start a `serve` or a `worker`, and return its number."""
        self._told.send(part)
        return int(self._told.recv())

    def end(self) -> None:
        """Fork no more."""
        self._told.close()
        self._process.join()


def _tend(environment: Mapping[str, str], asked: Connection, log: Path | None) -> None:
    """Fork until nobody can ask for more."""
    os.environ.clear()
    os.environ.update(environment)
    if log is not None:
        with log.open("ab") as file:
            os.dup2(file.fileno(), STDERR)
    config = Config.from_env()
    configure_logging(config.log_level)
    resources = build_resources(config)
    check_start(resources)
    resources.database.close()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system forgets the dead by itself
    while True:
        try:
            part = asked.recv()
        except EOFError:
            return
        child = os.fork()
        if child == 0:
            asked.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _run(part, config)
            os._exit(0)
        asked.send(child)


def _run(part: str, config: Config) -> None:
    if part == "worker":
        run_worker(build_resources(config))
        return
    # As `checkout serve` does; nobody asks it for routes here.
    uvicorn.run(
        compose(create_app(config), threads=config.web_threads),
        http=EndingProtocol,
        host=config.host,
        port=config.port,
        log_config=None,
        access_log=False,
    )
