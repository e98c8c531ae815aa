"""A worker that only delivers webhooks, with a lease short enough to be waited for after a kill.

Run as ``python -m tests.chaos.webhook_worker``; it ends when it is killed.
"""

from __future__ import annotations

import threading
from datetime import timedelta

from api.config import Config
from api.context import build_resources
from api.net.client import SafeClient
from api.services.webhooks.dispatcher import Dispatcher

LEASE = timedelta(seconds=7)
TIMEOUT_S = 5.0
TICK_S = 0.05


def main() -> None:
    resources = build_resources(Config.from_env())
    dispatcher = Dispatcher(SafeClient(timeout_s=TIMEOUT_S), lease=LEASE)
    forever = threading.Event()
    while not forever.wait(TICK_S):
        dispatcher.run(resources)


if __name__ == "__main__":
    main()
