"""What wakes an operator: endpoints, Redis, and receivers of webhooks, each told for what it is."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from structlog.testing import capture_logs

from adapters.feed.plan import Plan
from api.app import build_app
from api.domain.duties import PRESENCE
from api.domain.env import EnvMode
from api.domain.ledger import EndpointState
from api.services.ledger.chain_ledger import ChainLedger, connect_ledger
from api.services.operations.doctor.database import check_database
from api.services.operations.doctor.findings import Severity
from api.services.operations.doctor.redis import check_redis
from api.services.operations.duty_health import check_worker_health
from api.services.operations.receivers import MOST_NAMED
from api.services.operations.shares import list_shares
from api.services.resources import Resources
from api.services.settlement.watching.endpoint_notes import HOLDS_FOR, NOTE_EVERY, EndpointNotes
from api.services.settlement.watching.watch_tasks import ChainTask
from api.services.settlement.watching.watched_chain import ChainGroup
from api.storage.db import Database, read_database_time
from api.storage.process import Process
from api.storage.tables import Lease, WatchedEndpoint, WebhookSubscription
from api.worker.leases import Leases
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.metrics import read_metrics
from tests.support.redis_server import redis_server
from tests.support.servers import wait_until
from tests.support.webhooks import HOOK, Desk

BASE = 8453
DOWN = "http://watchman:password@127.0.0.1:9/v2/a-key-of-the-provider"
GROUP = ChainGroup(env_mode=EnvMode.LIVE, chain_ids=(BASE,), name="live/8453")


def list_lines(app: Flask, name: str) -> dict[str, float]:
    """Return the series of a metric with their values."""
    found = re.findall(rf"^({name}(?:{{[^}}]*}})?) (\S+)$", read_metrics(app), re.MULTILINE)
    return {series.removeprefix(name): float(value) for series, value in found}


@pytest.fixture
def connected(resources: Resources) -> Resources:
    """The service with two endpoints of a live chain, neither of which answers."""
    ledger = connect_ledger({BASE: (DOWN, DOWN.replace("v2", "v3"))}, EnvMode.LIVE, resources.clock)
    return replace(resources, ledgers={**resources.ledgers, EnvMode.LIVE: ledger})


def test_a_database_that_is_away_is_told_beside_what_needs_none(resources: Resources) -> None:
    app = build_app(resources)
    assert list_lines(app, "checkout_database_up") == {"": 1.0}
    assert list_lines(app, "checkout_database_writable") == {"": 1.0}
    away = build_app(replace(resources, database=Database("postgresql+psycopg://nobody@127.0.0.1:1/none")))
    assert away.test_client().get("/readyz").status_code == 503
    assert list_lines(away, "checkout_database_up") == {"": 0.0}
    assert list_lines(away, "checkout_database_writable") == {}
    refused = 'checkout_http_requests_total{method="GET",route="/readyz",status="503"} 1.0'
    assert refused in read_metrics(away)


def test_endpoints_that_are_away_are_told_by_their_hosts_alone(connected: Resources) -> None:
    app = build_app(connected)
    assert list_lines(app, "checkout_endpoint_up") == {}
    task = ChainTask(GROUP)
    task.run(connected)
    try:
        wait_until(lambda: bool(list_lines(app, "checkout_endpoint_up")), "it is noted")
    finally:
        task.end()
    labels = 'chain_id="8453",endpoint="{}",env_mode="live",host="127.0.0.1:9"'
    assert list_lines(app, "checkout_endpoint_up") == {"{" + labels.format(n) + "}": 0.0 for n in (1, 2)}
    text = read_metrics(app)
    assert "a-key" not in text
    assert "password" not in text


def test_an_endpoint_that_goes_and_comes_back_is_logged_once_each_time(
    connected: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, fares = (
        EndpointNotes(),
        [EndpointState(host=host, answers=True, in_step=True) for host in ("a.example", "b.example")],
    )
    monkeypatch.setattr(ChainLedger, "list_endpoints", lambda _, __: fares)
    said = []
    with capture_logs() as logged:
        fates = [
            (True, True),
            (False, True),
            (False, True),
            (False, False),
            (True, True),
            (True, False),
            (False, False),
            (False, None),
        ]
        for answers, in_step in fates:
            fares[1] = replace(fares[1], answers=answers, in_step=in_step is True, is_of_chain=in_step is not None)
            notes.write(connected, EnvMode.LIVE, BASE)
            said.append(len(logged))
    assert said == [0, 1, 1, 1, 2, 3, 4, 5]
    assert [(line["event"], line["log_level"]) for line in logged] == [
        ("endpoint_is_away", "warning"), ("endpoint_is_back", "info"), ("endpoint_is_out_of_step", "warning"),
        ("endpoint_is_away", "warning"), ("endpoint_is_of_another_chain", "error"),
    ]  # fmt: skip
    assert all((line["host"], line["chain_id"]) == ("b.example", BASE) for line in logged)


def test_what_nobody_has_noted_for_long_is_not_told(
    connected: Resources, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = build_app(connected)
    fares = [EndpointState(host="a.example", answers=True, in_step=True)] * 2
    monkeypatch.setattr(ChainLedger, "list_endpoints", lambda _, __: fares)
    notes = EndpointNotes()

    def write() -> list[tuple[bool, bool]]:
        notes.write(connected, EnvMode.LIVE, BASE)
        with connected.database.read() as session:
            return [(row.answers, row.noted_at == clock.now()) for row in session.query(WatchedEndpoint)]

    assert write() == [(True, True)] * 2
    clock.advance(seconds=1)
    assert write() == [(True, False)] * 2, "nothing is news"
    fares = [EndpointState(host="a.example", answers=False, in_step=True, is_of_chain=False)]
    assert write() == [(False, True)], "news at once; the second is configured no more"
    clock.advance(seconds=NOTE_EVERY.total_seconds())
    assert write() == [(False, True)]
    clock.advance(seconds=HOLDS_FOR.total_seconds())
    assert set(list_lines(app, "checkout_endpoint_in_step").values()) == {1.0}
    assert set(list_lines(app, "checkout_endpoint_of_chain").values()) == {0.0}
    clock.advance(seconds=1)
    assert list_lines(app, "checkout_endpoint_in_step") == {}


def test_simulated_chains_have_no_endpoints_to_note(resources: Resources) -> None:
    EndpointNotes().write(resources, EnvMode.TEST, BASE)
    with resources.database.read() as session:
        assert session.query(WatchedEndpoint).all() == []


def test_redis_is_told_to_be_away_and_back(resources: Resources) -> None:
    assert list_lines(build_app(resources), "checkout_redis_up") == {}
    assert list(check_redis(resources)) == []
    with redis_server() as (url, process):
        config = replace(resources.config, redis_url=f"redis+{url}")
        app = build_app(replace(resources, config=config))
        assert list_lines(app, "checkout_redis_up") == {"": 1.0}
        assert [each.level for each in check_redis(replace(resources, config=config))] == ["ok"]
        process.kill()
        process.wait()
        assert list_lines(app, "checkout_redis_up") == {"": 0.0}
    (told,) = check_redis(replace(resources, config=config))
    assert (told.level, told.message) == (
        "warning", "does not answer (ConnectionError): limits are counted by each machine for itself",
    )  # fmt: skip
    config = replace(config, redis_url="redis://:s3cret@127.0.0.1:9/0", market=Plan(adapters=("sandbox",)))
    (told,) = check_redis(replace(resources, config=config))
    assert (told.level, "rates reach no HTTP process" in told.message) == ("wrong", True)
    assert "s3cret" not in told.message + told.remedy


def test_one_dead_receiver_makes_nobody_else_late(
    desk: Desk, merchant: Merchant, other_merchant: Merchant, clock: SettableClock
) -> None:
    app = build_app(desk.resources)
    dead = desk.subscribe(merchant, "live")["webhook_id"]
    desk.publish(merchant, "live")
    desk.transport.always(status=500)
    desk.work()
    desk.transport.always(status=200)
    desk.subscribe(other_merchant, "live")
    desk.publish(other_merchant, "live")
    desk.work()
    clock.advance(seconds=3 * 3600)
    assert list_lines(app, "checkout_webhook_oldest_pending_seconds") == {"": 3 * 3600.0}
    assert list_lines(app, "checkout_webhook_overdue_seconds") == {"": 0.0}
    named = {f'{{webhook_id="{dead}"}}': 3 * 3600.0}
    assert list_lines(app, "checkout_webhook_receiver_failing_seconds") == named
    counted = list_lines(app, "checkout_webhook_receivers")
    states = {state: counted[f'{{env_mode="live",state="{state}"}}'] for state in ("taking", "failing", "disabled")}
    assert states == {"taking": 1, "failing": 1, "disabled": 0}
    desk.publish(other_merchant, "live")  # and nobody sends
    clock.advance(seconds=400)
    assert list_lines(app, "checkout_webhook_overdue_seconds") == {"": 400.0}
    desk.work()
    assert list_lines(app, "checkout_webhook_overdue_seconds") == {"": 0.0}
    assert list_lines(app, "checkout_webhook_receiver_failing_seconds") == {}, "it took what was due to it by now"


def test_only_so_many_dead_receivers_are_named(resources: Resources, merchant: Merchant) -> None:
    now = resources.clock.now()
    with resources.database.write() as session:
        session.add_all(
            WebhookSubscription(
                id=f"ep_{number:03}", vendor_id=merchant.id, url=HOOK, env_mode="live", events=[],
                failing_since=now - timedelta(seconds=number), created_at=now, updated_at=now,
            )
            for number in range(2 * MOST_NAMED)
        )  # fmt: skip
    found = list_lines(build_app(resources), "checkout_webhook_receiver_failing_seconds")
    assert len(found) == MOST_NAMED
    assert min(found.values()) == MOST_NAMED


def test_a_worker_that_hangs_beside_one_that_works_is_told_until_it_may_be_forgotten(resources: Resources) -> None:
    app, database = build_app(resources), resources.database
    hung = replace(Process.find_present(), host="elsewhere-1a2b3c4d", pid=4711)
    worker = Leases(database)

    def fall_silent(since: timedelta) -> None:
        with database.write() as session:
            heard_of = read_database_time(session) - since
            session.merge(Lease(duty=f"{PRESENCE}1", holder=f"{hung.name}/1", token=1, expires_at=heard_of))

    def list_silent() -> dict[str, float]:
        return {name: value for name, value in list_lines(app, "checkout_worker_silent_seconds").items() if value}

    try:
        worker.keep(list_shares(resources))
        assert (len(list_lines(app, "checkout_worker_silent_seconds")), list_silent()) == (1, {})
        fall_silent(timedelta(seconds=90))
        worker.keep(list_shares(resources))  # which would forget one that has ended
        ((name, since),) = list_silent().items()
        assert name == '{worker="elsewhere-1a2b3c4d 4711"}'
        assert 90 <= since < 190
        assert len(list_lines(app, "checkout_worker_silent_seconds")) == 2
        told = [each.message for each in check_database(resources) if each.level == Severity.WARNING]
        assert any(each.startswith("elsewhere-1a2b3c4d 4711 has not been heard of for") for each in told), told
        for path in ("/healthz", "/readyz"):
            problems = app.test_client().get(path).get_data(as_text=True)
            assert "a worker has not been heard of" in problems
            assert "elsewhere" not in problems, "its machine is none of a stranger's business"
        fall_silent(timedelta(hours=13))
        worker.keep(list_shares(resources))
        assert list_silent() == {}
    finally:
        worker.close()


def test_a_worker_that_was_killed_here_is_not_looked_for(resources: Resources) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    killed = replace(Process.find_present(), pid=child.pid)
    with resources.database.write() as session:
        heard_of = read_database_time(session) - timedelta(seconds=90)
        session.merge(Lease(duty=f"{PRESENCE}1", holder=f"{killed.name}/1", token=1, expires_at=heard_of))
    (finding,) = [each for each in check_database(resources) if each.message.startswith(f"{killed.host} {child.pid}")]
    assert finding.remedy == "it was killed: start it anew, unless that is done"
    problems = check_worker_health(resources).problems
    assert any(each.endswith("it was killed; start it anew unless that is done") for each in problems), problems
