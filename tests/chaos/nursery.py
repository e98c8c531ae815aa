"""Start the service's processes by forking one that has imported everything, so that a killed one is back at once.

Reads lines from its input, ``serve`` or ``worker``; forks, and prints the new process' number.
"""

from __future__ import annotations

import os
import signal
import sys

import uvicorn

from api import create_app
from api.config import Config
from api.context import build_resources
from api.logs import configure_logging
from api.serving.asgi import compose
from api.serving.connections import EndingProtocol
from api.startup.start_checks import check_start
from api.worker.process import run_worker


def serve(config: Config) -> None:
    """Serve the application of `checkout serve`, which nobody asks for routes here."""
    uvicorn.run(
        compose(create_app(config), threads=config.web_threads),
        http=EndingProtocol,
        host=config.host,
        port=config.port,
        log_config=None,
        access_log=False,
    )


def main() -> None:
    """Fork until the input ends."""
    config = Config.from_env()
    configure_logging(config.log_level)
    resources = build_resources(config)
    check_start(resources)
    resources.database.close()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system forgets the dead by itself
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            if line.strip() == "serve":
                serve(config)
            else:
                run_worker(build_resources(config))
            os._exit(0)
        print(child, flush=True)


if __name__ == "__main__":
    main()
