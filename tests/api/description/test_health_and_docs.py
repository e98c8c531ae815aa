"""Health, metrics, and the API's description."""

from __future__ import annotations

import gzip
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import create_engine, event, select
from sqlalchemy.exc import DatabaseError

from adapters import installed
from api.app import build_app
from api.blueprints.health import GLANCE_S, NOTHING_SEEN
from api.domain.duties import Duty, find_duty
from api.services.operations import duty_health
from api.services.operations.doctor.database import check_database
from api.services.operations.duty_health import ESSENTIAL
from api.services.operations.shares import list_shares
from api.services.resources import Resources
from api.services.settlement.watching.watcher import watch
from api.storage import migrations
from api.storage.db import Database, read_database_time
from api.storage.process import Process
from api.storage.tables import Lease, WatchCursor
from api.web import compression
from api.worker.leases import Leases
from tests.api.conftest import Merchant
from tests.api.probe import probe_app
from tests.support.clock import SettableClock
from tests.support.metrics import read_metrics


@pytest.fixture
def worker(resources: Resources) -> Iterator[Leases]:
    """A worker that does everything, and has just read every chain."""
    leases = Leases(resources.database, lease_s=600)
    leases.keep(list_shares(resources))
    watch(resources)
    yield leases
    leases.close()


def forget_looks(resources: Resources) -> None:
    """Let the next look at the database be a new one."""
    assert isinstance(resources.clock, SettableClock)
    resources.clock.advance(seconds=1)


def set_lapsed(resources: Resources, duty: str, seconds: float) -> None:
    """Let a share lapse, or every share of a duty."""
    forget_looks(resources)
    with resources.database.write() as session:
        for share in list_shares(resources):
            if duty in (share, find_duty(share)):
                session.get_one(Lease, share).expires_at = read_database_time(session) - timedelta(seconds=seconds)


@pytest.mark.rule("operation.4", "operation.5")
def test_health_and_readiness(client: FlaskClient, worker: Leases, resources: Resources) -> None:
    newest = migrations.find_latest_revision()
    traces = {"live": [], "test": []}
    assert client.get("/healthz").get_json() == {"status": "ok", "problems": [], "chains_without_traces": traces}
    assert client.get("/readyz").get_json() == {"status": "ready", "revision": newest, "problems": []}
    assert client.get("/readyz/api").get_json() == {"status": "ready", "revision": newest}


@pytest.mark.parametrize("duty", sorted(ESSENTIAL))
def test_a_duty_that_nobody_does_makes_the_service_unready_but_not_the_process(
    client: FlaskClient, resources: Resources, worker: Leases, duty: Duty
) -> None:
    set_lapsed(resources, duty, 14)
    assert client.get("/readyz").status_code == 200
    set_lapsed(resources, duty, 16)
    refused = client.get("/readyz")
    assert refused.status_code == 503
    assert refused.get_json()["message"] == f"nobody does the duty {duty}: start `checkout worker`"
    assert client.get("/readyz/api").status_code == 200
    assert client.get("/healthz").get_json()["problems"] == [refused.get_json()["message"]]


def let_workers_go(resources: Resources, *, expired_s: float, holder: str | None = None) -> None:
    """Let all leases be those of workers that were killed, this long after these leases expired."""
    forget_looks(resources)
    with resources.database.write() as session:
        ends_at = read_database_time(session) - timedelta(seconds=expired_s)
        for row in session.scalars(select(Lease)):
            row.expires_at, row.holder = ends_at, holder or row.holder


def test_workers_that_are_all_gone_are_not_waited_for(
    client: FlaskClient, resources: Resources, worker: Leases
) -> None:
    """Until then the service was called ready for 20 s: somebody might have taken over."""
    let_workers_go(resources, expired_s=2)
    assert client.get("/readyz").status_code == 200, "a database may have hung for as long"
    let_workers_go(resources, expired_s=4)
    refused = client.get("/readyz")
    assert (refused.status_code, "nobody does the duty chains" in refused.get_json()["message"]) == (503, True)
    other = Leases(resources.database, lease_s=600)
    other.keep(["housekeeping"])
    forget_looks(resources)
    assert client.get("/readyz").status_code == 200, "it takes over"
    other.close()


def test_workers_that_were_killed_on_this_machine_are_missed_at_once(
    client: FlaskClient, resources: Resources, worker: Leases
) -> None:
    killed = replace(Process.find_present(), started=1).name
    let_workers_go(resources, expired_s=-600, holder=f"{killed}/a")
    assert client.get("/readyz").status_code == 503


def test_workers_that_left_in_peace_are_waited_for(client: FlaskClient, resources: Resources, worker: Leases) -> None:
    worker.close()
    forget_looks(resources)
    assert client.get("/readyz").status_code == 200, "a worker that is alone is restarted"


def test_a_share_that_nobody_does_is_named(client: FlaskClient, resources: Resources, worker: Leases) -> None:
    set_lapsed(resources, "webhooks/2", 16)
    refused = client.get("/readyz")
    assert refused.status_code == 503
    assert refused.get_json()["message"] == "nobody does the duty webhooks/2: start `checkout worker`"


@contextmanager
def read_only(database: Database) -> Iterator[None]:
    """Let PostgreSQL refuse to write to a database, as one does that has become a standby."""
    name, engine = database.engine.url.database, create_engine(database.engine.url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
        database.close()
        try:
            yield
        finally:
            connection.exec_driver_sql(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
            database.close()
    engine.dispose()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_workers_that_cannot_write_are_not_called_missing(
    client: FlaskClient, resources: Resources, worker: Leases, clock: SettableClock
) -> None:
    with read_only(resources.database):
        assert client.get("/readyz").status_code == 200  # while everything is done nobody tries
        assert "checkout_database_writable 1.0" in read_metrics(build_app(resources))
    set_lapsed(resources, Duty.CHAINS, 16)
    with read_only(resources.database):
        refused = client.get("/readyz")
        assert refused.status_code == 503
        assert refused.get_json()["message"] == (
            "the database can't be written (ReadOnlySqlTransaction 25006), so no worker can do chains, whether or not "
            "one runs: make room on its disk, or see who made it read-only or holds its lock"
        )
        assert client.get("/healthz").get_json()["problems"] == [refused.get_json()["message"]]
        assert client.get("/readyz/api").status_code == 200
        assert "checkout_database_writable 0.0" in read_metrics(build_app(resources))
        (told,) = (each for each in check_database(resources) if each.about == "worker")
        assert told.message == "nobody can do the duties chains: workers can't write down that they do"
    clock.advance(seconds=6)
    assert client.get("/readyz").get_json()["message"].startswith("nobody does the duty chains")


def test_a_flood_of_probes_asks_the_database_once_a_second(
    client: FlaskClient, resources: Resources, worker: Leases
) -> None:
    paths = ("/readyz", "/readyz/api", "/healthz")
    for path in paths:
        assert client.get(path).status_code == 200
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    event.listen(resources.database.engine, "before_cursor_execute", note)
    try:
        for path in paths * 20:
            assert client.get(path).status_code == 200
        assert asked == []
        forget_looks(resources)
        for path in paths:
            assert client.get(path).status_code == 200
        assert asked
    finally:
        event.remove(resources.database.engine, "before_cursor_execute", note)


def test_health_waits_for_a_database_that_hangs_for_a_moment_and_once(
    client: FlaskClient, resources: Resources, worker: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, gate, over = [], threading.Event(), threading.Event()
    look = duty_health.check_worker_health

    def hang(given: Resources) -> duty_health.WorkerHealth:
        looks.append(1)
        gate.wait(30)
        return look(given)

    monkeypatch.setattr(duty_health, "check_worker_health", hang)
    begun = time.monotonic()
    try:
        for _ in range(10):
            assert client.get("/healthz").get_json()["problems"] == [NOTHING_SEEN]
        assert time.monotonic() - begun < 10 * GLANCE_S, "only the first waits"
        assert len(looks) == 1
    finally:
        gate.set()
        while any(each.name == "search" for each in threading.enumerate()):
            over.wait(0.01)
    assert client.get("/healthz").get_json()["problems"] == []


def test_a_failure_is_told_for_a_second_and_no_longer(
    client: FlaskClient, resources: Resources, worker: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def fail(_: object) -> None:
        tries.append(1)
        raise DatabaseError("SELECT 1", None, Exception("away"))

    with monkeypatch.context() as broken:
        broken.setattr(migrations, "check_schema", fail)
        refused = [client.get("/readyz") for _ in range(5)]
    assert [each.status_code for each in refused] == [503] * 5
    assert refused[4].get_json()["message"].startswith("The database does not answer")
    assert len(tries) == 1
    forget_looks(resources)
    assert client.get("/readyz").status_code == 200


def test_without_a_worker_the_service_is_not_ready(client: FlaskClient) -> None:
    assert client.get("/readyz").status_code == 503
    assert client.get("/readyz/api").status_code == 200


def test_health_names_the_packages_that_are_broken(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint(group="routing_engine.bridges", name="pony", value="nowhere.pony:BRIDGE")
    monkeypatch.setattr(installed, "_broken", {})
    monkeypatch.setattr(installed, "_find_entries", lambda group, _: [broken] if group == broken.group else [])
    installed.load_adapters()
    (said,) = (each for each in client.get("/healthz").get_json()["problems"] if "entry point" in each)
    assert said == "the entry point 'pony' in routing_engine.bridges, of the package unknown, cannot be loaded"


def test_a_lesser_duty_and_an_unread_chain_are_told(client: FlaskClient, resources: Resources, worker: Leases) -> None:
    set_lapsed(resources, Duty.HOUSEKEEPING, 100)
    with resources.database.write() as session:
        session.get_one(WatchCursor, ("test", 8453)).updated_at -= timedelta(seconds=60)
    answer = client.get("/readyz")
    assert answer.status_code == 200
    duty, chain = answer.get_json()["problems"]
    assert "housekeeping" in duty
    assert chain.startswith("chain 8453 (test) has not been read")
    text = read_metrics(build_app(resources))
    assert 'checkout_duty_lapsed_seconds{duty="chains/test"} 0.0' in text
    lapsed = re.search(r'checkout_duty_lapsed_seconds{duty="housekeeping"} ([0-9.]+)', text)
    assert lapsed is not None
    assert 100 <= float(lapsed[1]) < 200  # the database's clock goes on while this test runs
    assert 'checkout_chain_unread_seconds{chain_id="8453",env_mode="test"} 61.0' in text


@pytest.mark.rule("operation.5")
def test_an_unmigrated_database_is_not_ready(
    resources: Resources, make_database_url: Callable[[str], str], assert_error: Callable[..., None]
) -> None:
    database = Database(make_database_url(resources.database.engine.dialect.name))
    client = probe_app(replace(resources, database=database)).test_client()
    response, alive = client.get("/readyz"), client.get("/healthz")
    database.close()
    assert alive.get_json()["problems"] == ["the database does not answer, or has no schema yet"]
    assert_error(response, 503, {})
    assert "checkout db upgrade" in response.get_json()["message"]


@pytest.mark.rule("operation.6")
def test_metrics_count_by_route_and_never_by_id(resources: Resources, merchant: Merchant) -> None:
    client = probe_app(resources).test_client()
    for number in (404, 409, 409):
        client.get(f"/v1/probe/refuse/{number}")
    client.get("/v1/nothing/7")
    text = read_metrics(client.application)
    assert 'checkout_http_requests_total{method="GET",route="/v1/probe/refuse/<code>",status="409"} 2.0' in text
    assert 'checkout_http_requests_total{method="GET",route="unknown",status="404"} 1.0' in text
    assert 'checkout_http_request_seconds_count{route="/v1/probe/refuse/<code>"} 3.0' in text
    assert "/v1/nothing" not in text


@pytest.mark.rule("operation.11")
def test_metrics_are_closed_without_a_token_and_open_to_whoever_has_it(
    make_app: Callable[..., Flask], assert_error: Callable[..., None]
) -> None:
    closed = make_app().test_client()
    for sent in ({}, {"Authorization": "Bearer "}, {"Authorization": "Bearer None"}):
        answer = closed.get("/metrics", headers=sent)
        assert_error(answer, 401)
        assert "METRICS_TOKEN" in answer.get_json()["message"]
    client = make_app(metrics_token="s3cret").test_client()
    assert_error(client.get("/metrics"), 401)
    assert_error(client.get("/metrics", headers={"Authorization": "Bearer wrong"}), 401)
    assert client.get("/metrics", headers={"Authorization": "Bearer s3cret"}).status_code == 200


@pytest.mark.rule("keys.1")
def test_the_openapi_document_describes_bodies_errors_and_keys(resources: Resources) -> None:
    document = probe_app(resources).test_client().get("/openapi.json").get_json()
    assert document["openapi"] == "3.1.0"
    assert document["servers"] == [{"url": "https://pay.example"}]
    assert document["components"]["securitySchemes"]["ApiKey"]["name"] == "X-Api-Key"
    assert document["paths"]["/v1/probe/private"]["post"]["security"] == [{"ApiKey": ["read"]}]
    assert document["paths"]["/v1/probe/public"]["get"]["security"] == [{"ApiKey": []}, {}]
    everything = document["paths"]["/v1/probe/everything"]["post"]
    assert everything["operationId"] == "sendEverything"
    assert everything["responses"]["400"] == {"$ref": "#/components/responses/BadRequest"}
    schemas = document["components"]["schemas"]
    assert schemas["Everything"]["required"] == ["env_mode", "items", "price", "url"]
    assert schemas["Everything"]["properties"]["env_mode"] == {"$ref": "#/components/schemas/EnvMode"}
    assert schemas["EnvMode"]["enum"] == ["test", "live"]
    assert set(schemas["Error"]["properties"]) == {"message", "code", "error"}
    assert schemas["Price"]["properties"]["amount"]["oneOf"] == [
        {"type": "integer", "minimum": 1},
        {"type": "string", "pattern": "^[0-9]{1,78}$"},
    ]


@pytest.mark.rule("operation.3")
def test_the_docs_page_needs_nothing_from_elsewhere(client: FlaskClient) -> None:
    page = client.get("/docs")
    text = page.get_data(as_text=True)
    assert page.status_code == 200
    assert "http://" not in text
    assert "https://" not in text
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    (start,) = re.findall(r"/static/docs/start\.\w+\.js", text)
    for path in ("/docs/assets/swagger-ui-bundle.js", "/docs/assets/swagger-ui.css", start):
        assert path in text
        response = client.get(path)
        assert response.status_code == 200
        response.close()
    assert client.get("/docs/assets/../../__init__.py").status_code == 404


@pytest.mark.parametrize("path", ["/readyz", "/readyz/api"])
def test_a_damaged_database_is_not_ready(client: FlaskClient, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    def fail(_: object) -> None:
        raise DatabaseError("SELECT 1", None, Exception("database disk image is malformed"))

    monkeypatch.setattr(migrations, "check_schema", fail)
    assert client.get(path).status_code == 503
    assert client.get("/healthz").status_code == 200


def test_a_probe_reads_no_migrations(
    client: FlaskClient, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/readyz/api").status_code == 200
    forget_looks(resources)
    monkeypatch.setattr(migrations.ScriptDirectory, "from_config", None)  # who calls it fails
    assert client.get("/readyz/api").status_code == 200


def test_the_openapi_document_is_compressed_once(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = client.get("/openapi.json").get_data()
    answers = [client.get("/openapi.json", headers={"Accept-Encoding": "gzip"})]
    assert (answers[0].headers["Content-Encoding"], answers[0].headers["Vary"]) == ("gzip", "Accept-Encoding")
    monkeypatch.setattr(compression, "compress_quickly", None)  # who calls it fails
    answers.append(client.get("/openapi.json", headers={"Accept-Encoding": "gzip"}))
    assert [gzip.decompress(answer.get_data()) for answer in answers] == [plain] * 2
