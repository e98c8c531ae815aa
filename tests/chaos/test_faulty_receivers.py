"""A faulty network between the worker and a receiver of webhooks: each event arrives, again only with the same id."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from api.config import Config
from api.context import build_resources
from api.net.client import SafeClient
from api.secrets.keys import make_key
from api.services.webhooks.dispatcher import Dispatcher
from api.storage.migrations import upgrade
from tests.chaos.test_outbox import Receiver, publish_all, statuses
from tests.support.clock import SettableClock
from tests.support.fault_proxy import HALF_OPEN, NONE, REFUSED, SILENT, Fault, fault_proxy

TIMEOUT_S = 1.5
"""Also the last attempts, which nothing spoils, are made within this on a busy machine."""
ROUNDS = 2
"""Attempts that the fault spoils."""
LATER = timedelta(minutes=6)
"""After every pause between the first attempts."""
BY_DICE = Fault(cut_share=0.5, cut_after_bytes=2)
DRIPPING = Fault(delay_s=0.05, piece_bytes=1)


@pytest.mark.parametrize(
    "fault",
    [BY_DICE, REFUSED, SILENT, HALF_OPEN, DRIPPING],
    ids=["dice", "refused", "silent", "half", "drips"],
)
def test_each_event_arrives_however_the_way_to_its_receiver_fares(
    fault: Fault, make_database_url: Callable[[str], str], tmp_path: Path, httpserver: HTTPServer
) -> None:
    key, clock = make_key(), SettableClock(datetime.now(UTC))
    config = Config(
        data_dir=tmp_path, database_url=make_database_url("sqlite"), secret_keys=(key,), allow_local_webhooks=True
    )
    resources = build_resources(config, clock=clock)
    upgrade(resources.database.engine)
    bodies: defaultdict[str, Counter[bytes]] = defaultdict(Counter)

    def receive(request: Request) -> Response:
        bodies[request.headers["webhook-id"]][request.get_data()] += 1
        return Response("taken")

    httpserver.expect_request("/hook").respond_with_handler(receive)
    dispatcher = Dispatcher(SafeClient(timeout_s=TIMEOUT_S), rng=Random(7))
    with fault_proxy(("127.0.0.1", httpserver.port)) as proxy:
        published = publish_all(resources.database, Receiver(), key, f"http://127.0.0.1:{proxy.port}/hook", messages=12)
        proxy.behave(fault)
        for attempt in range(ROUNDS + 1):
            if attempt == ROUNDS:
                proxy.behave(NONE)
            clock.advance(seconds=LATER.total_seconds())
            for _ in published:  # a receiver that fails gets one at a time
                dispatcher.run(resources)
                dispatcher.wait_idle()
    dispatcher.end()
    ended = statuses(resources.database)
    resources.database.close()
    assert ended == {"delivered": len(published)}
    assert set(bodies) == set(published)
    assert [len(each) for each in bodies.values()] == [1] * len(published), "one id, one body"
    if fault is HALF_OPEN:
        assert min(each.total() for each in bodies.values()) > 1, "whose answer is lost is sent again"
