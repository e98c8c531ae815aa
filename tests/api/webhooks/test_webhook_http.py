"""Webhooks over real connections: the client, the worker's loop, and a receiver that verifies."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from pytest_httpserver import HTTPServer
from standardwebhooks import Webhook
from werkzeug import Request, Response

from api.app import build_app
from api.domain.duties import Duty
from api.net.client import SafeClient
from api.services.resources import Resources
from api.services.webhooks.dispatcher import Dispatcher
from api.worker.jobs import Job, list_jobs
from api.worker.leases import Leases
from api.worker.process import Worker
from api.worker.sources import SourceReader
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.receiver import StaticResolver
from tests.support.webhooks import Desk


@pytest.fixture
def resolver() -> StaticResolver:
    return StaticResolver(("127.0.0.1",))


@pytest.fixture
def desk(
    resources: Resources, clock: SettableClock, resolver: StaticResolver, standing: Callable[..., Flask]
) -> Iterator[Desk]:
    clock.set(datetime.now(UTC))  # receivers compare the signature's time with their own
    config = replace(resources.config, allow_local_webhooks=True)
    resources = replace(resources, config=config, resolver=resolver)
    made = Desk.of(resources, standing("desk", resources).test_client())
    made.dispatcher = Dispatcher(SafeClient(resolver, timeout_s=5))
    yield made
    made.dispatcher.end()


def hook(server: HTTPServer, host: str = "127.0.0.1") -> str:
    return f"http://{host}:{server.port}/hook"


@pytest.mark.rule("deliveries.1")
def test_a_receiver_verifies_with_the_standard_library(
    desk: Desk, merchant: Merchant, httpserver: HTTPServer, clock: SettableClock
) -> None:
    made = desk.subscribe(merchant, url=hook(httpserver))
    verified: list[object] = []

    def receive(request: Request) -> Response:
        verified.append(Webhook(made["secret"]).verify(request.get_data(), dict(request.headers)))
        return Response(status=500 if len(verified) == 1 else 204)

    httpserver.expect_request("/hook", method="POST").respond_with_handler(receive)
    desk.publish(merchant, metadata={"note": "✓"})
    desk.work()
    clock.advance(seconds=6)
    desk.work()
    assert len(verified) == 2
    assert verified[0] == verified[1]
    assert verified[0]["event"]["data"]["metadata"] == {"note": "✓"}
    (entry,) = desk.log(merchant, made["webhook_id"])
    assert [row["response_status"] for row in entry["attempts"]] == [500, 204]
    assert entry["status"] == "delivered"


@pytest.mark.rule("input.14")
def test_a_name_that_turns_inward_after_registration_is_not_followed(
    resources: Resources, merchant: Merchant, httpserver: HTTPServer
) -> None:
    resolver = StaticResolver(("93.184.216.34",), ("127.0.0.1",))
    httpserver.expect_request("/hook").respond_with_data("secrets")
    resources = replace(resources, resolver=resolver)
    desk = Desk.of(resources, build_app(resources).test_client())
    desk.dispatcher = Dispatcher(SafeClient(resolver))
    made = desk.subscribe(merchant, url="http://rebind.example:8080/hook")
    desk.publish(merchant)
    desk.work()
    desk.dispatcher.end()
    assert httpserver.log == []
    (entry,) = desk.log(merchant, made["webhook_id"])
    (attempt,) = entry["attempts"]
    assert attempt["error"] == "127.0.0.1 is not a public address; webhooks go to public addresses"
    assert attempt["response_excerpt"] == ""
    assert resolver.asked == ["rebind.example"] * 2


@pytest.mark.rule("input.15")
def test_local_targets_are_refused_at_delivery_once_the_operator_forbids_them(
    desk: Desk, merchant: Merchant, httpserver: HTTPServer
) -> None:
    made = desk.subscribe(merchant, url=hook(httpserver))
    desk.publish(merchant)
    desk.resources = replace(desk.resources, config=replace(desk.resources.config, allow_local_webhooks=False))
    desk.work()
    assert httpserver.log == []
    (entry,) = desk.log(merchant, made["webhook_id"])
    assert "not allowed" in entry["attempts"][0]["error"]


def test_the_workers_loop_delivers_at_once(
    desk: Desk, merchant: Merchant, httpserver: HTTPServer, clock: SettableClock
) -> None:
    arrived = threading.Event()
    httpserver.expect_request("/hook").respond_with_handler(lambda _: arrived.set() or Response())
    desk.subscribe(merchant, url=hook(httpserver, "localhost"))
    webhooks = next(job for job in list_jobs(desk.resources, SourceReader()) if job.duty == Duty.WEBHOOKS)
    job = Job(duty=webhooks.duty, every_s=webhooks.every_s, run=desk.dispatcher.run, end=desk.dispatcher.end)
    worker = Worker(desk.resources, Leases(desk.resources.database), [job])
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        published_at = datetime.now(UTC)
        clock.set(published_at)
        desk.publish(merchant)
        assert arrived.wait(5)
        assert datetime.now(UTC) - published_at < timedelta(seconds=2)
    finally:
        worker.stop()
        thread.join()
