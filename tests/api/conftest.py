"""The service on SQLite and on PostgreSQL, with a clock that the test sets.

A test that takes `client`, `app` or `resources` runs once on each database.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient

from api.app import build_app
from api.cli.commands import main
from api.config import Config
from api.context import attach_resources
from api.domain.env import EnvMode
from api.services.market.market import MarketService
from api.services.market.supply import load_offline
from api.services.resources import Resources
from api.services.simulator.ledger import SimulatedLedger
from api.services.vendors.vendors import NewVendor
from api.storage.db import Database
from tests.support.clock import SettableClock
from tests.support.contract import hold_to_contract
from tests.support.databases import DIALECTS, Databases, empty
from tests.support.logs import log_plainly
from tests.support.receiver import StaticResolver
from tests.support.shop import Shop
from tests.support.vendors import VendorMaker
from tests.support.webhooks import Desk

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
Run = Callable[..., Result]
SECRET_KEY = base64.b64encode(bytes(range(32))).decode()


@dataclass(frozen=True)
class Merchant:
    """A vendor with its keys, and what its application would send."""

    vendor: NewVendor

    @property
    def id(self) -> str:
        return self.vendor.vendor_id

    def headers(self, env_mode: str = "test") -> dict[str, str]:
        """Headers that authenticate a request."""
        return {"X-Api-Key": self.vendor.keys[EnvMode(env_mode)]}


@pytest.fixture(scope="session", autouse=True)
def contract() -> Iterator[None]:
    """Hold every answer of every test to the OpenAPI document."""
    ask = FlaskClient.open

    def ask_and_check(client: FlaskClient, *args: Any, **options: Any) -> Any:
        answer = ask(client, *args, **options)
        hold_to_contract(client.application, answer)
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FlaskClient, "open", ask_and_check)
        yield


@pytest.fixture(scope="session", params=DIALECTS)
def database(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Database]:
    """A migrated database, shared by the session's tests; `resources` empties it."""
    with databases.lend(request.param) as shared:
        yield shared


@pytest.fixture
def clock() -> SettableClock:
    """A clock that stands at noon of 1 March 2026 until the test moves it."""
    return SettableClock(START)


@pytest.fixture
def config(tmp_path: Path, database: Database) -> Config:
    """Settings of a test; change them with `dataclasses.replace`. The limits are out of the way."""
    url = database.engine.url.render_as_string(hide_password=False)
    return Config(
        data_dir=tmp_path,
        database_url=url,
        base_url="https://pay.example",
        secret_keys=(SECRET_KEY,),
        rate_limit_key=100_000,
        rate_limit_routing=100_000,
        rate_limit_keyless=100_000,
        rate_limit_page=100_000,
    )


@pytest.fixture(scope="session")
def market() -> MarketService:
    """The sandbox market, loaded once for all tests, at their first question."""
    return MarketService(load_offline(None), SettableClock(START))


@pytest.fixture
def resources(config: Config, clock: SettableClock, database: Database, market: MarketService) -> Iterator[Resources]:
    """What services and jobs take; the database is empty at first."""
    ledgers = {EnvMode.TEST: SimulatedLedger(database, clock)}
    yield Resources(config=config, clock=clock, database=database, market=market, ledgers=ledgers)
    empty(database)


@pytest.fixture(scope="session")
def standing() -> Callable[..., Flask]:
    """Give an application that goes from test to test, each time around other resources.

    Building one takes longer than most tests. Its limits and counters are not begun anew, so tests of those build their
    own. Applications of different names are different ones.
    """
    built: dict[str, Flask] = {}

    def serve(name: str, shared: Resources, build: Callable[[Resources], Flask] = build_app) -> Flask:
        app = built[name] = built.get(name) or build(shared)
        attach_resources(app, shared)
        return app

    return serve


@pytest.fixture
def make_app(resources: Resources) -> Callable[..., Flask]:
    """Make the application with some settings changed."""

    def make(**changes: Any) -> Flask:
        return build_app(replace(resources, config=replace(resources.config, **changes)))

    return make


@pytest.fixture
def app(resources: Resources, standing: Callable[..., Flask]) -> Flask:
    """The application."""
    return standing("app", resources)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """Talks to the application without a network."""
    return app.test_client()


@pytest.fixture(scope="session")
def vendor_maker() -> VendorMaker:
    """Makes the vendors of all tests."""
    return VendorMaker()


@pytest.fixture
def make_merchant(resources: Resources, vendor_maker: VendorMaker) -> Callable[[str], Merchant]:
    """Make a vendor with keys and test accounts."""

    def make(name: str) -> Merchant:
        with resources.database.write() as session:
            return Merchant(vendor_maker.make(session, name, resources.clock.now()))

    return make


@pytest.fixture
def merchant(make_merchant: Callable[[str], Merchant]) -> Merchant:
    """A vendor."""
    return make_merchant("Tea & Co")


@pytest.fixture
def other_merchant(make_merchant: Callable[[str], Merchant]) -> Merchant:
    """Another vendor, who must see nothing of the first one's."""
    return make_merchant("Rival Ltd")


@pytest.fixture
def desk(
    resources: Resources, clock: SettableClock, standing: Callable[..., Flask], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Desk]:
    """A vendor's application and the worker's deliveries, on the test's clock, without a network."""

    class Now(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return clock.now()

    monkeypatch.setattr("standardwebhooks.webhooks.datetime", Now)
    resources = replace(resources, resolver=StaticResolver(("93.184.216.34",)))
    made = Desk.of(resources, standing("desk", resources).test_client())
    yield made
    made.dispatcher.end()


@pytest.fixture
def shop(client: FlaskClient, resources: Resources, clock: SettableClock, merchant: Merchant) -> Shop:
    """The merchant's application."""
    return Shop(client=client, resources=resources, clock=clock, merchant=merchant)


@pytest.fixture
def run(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command of the operator on the test's database."""
    monkeypatch.setenv("DATABASE_URL", resources.config.database_url)
    monkeypatch.setenv("DATA_DIR", str(resources.config.data_dir))
    return lambda *words: CliRunner().invoke(main, words)


@pytest.fixture
def assert_error() -> Callable[..., None]:
    """Check that an answer has the error body, its headers, and exactly these problems if any are given."""

    def check(response: Any, status: int, problems: Mapping[str, str] | None = None) -> None:
        body = response.get_json()
        assert response.status_code == status, body
        assert response.mimetype == "application/json"
        assert set(body) == {"message", "code", "error"}
        assert body["code"] == str(status)
        assert body["message"]
        assert all(set(row) == {"path", "message"} for row in body["error"])
        assert response.headers["X-Request-Id"]
        if problems is not None:
            assert {row["path"]: row["message"] for row in body["error"]} == problems
            assert len(body["error"]) == len(problems)

    return check


@pytest.fixture
def restore_logging() -> Iterator[None]:
    """Put logging back as it was, after a test that configures it for a process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    log_plainly()
