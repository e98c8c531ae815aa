"""The running service, with two vendors who have been in business for hours before anybody throws anything at it."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from api.app import build_app
from api.config import Config
from api.domain.env import EnvMode
from api.domain.scopes import Scope
from api.net.client import HttpReply
from api.services.market.market import MarketService
from api.services.market.supply import load_offline
from api.services.resources import Resources
from api.services.simulator.ledger import SimulatedLedger
from api.services.vendors.key_management import create_key
from api.services.vendors.vendors import create_vendor
from api.storage.db import Database
from api.storage.migrations import upgrade
from tests.api.conftest import Merchant
from tests.fuzz.pool import Caller, Owner, Pool
from tests.support.clock import SettableClock
from tests.support.databases import empty
from tests.support.receiver import StaticResolver
from tests.support.running import RunningService, run_service
from tests.support.scene import Scene
from tests.support.shop import Shop
from tests.support.simulated_payments import send
from tests.support.webhooks import Desk

SECRET_KEY = base64.b64encode(bytes(range(32))).decode()
VENDORS = ("Fuzz Tea 7f3a", "Fuzz Rival 91bc")
AGO = timedelta(hours=3)
STRAYS = 12
WRONG_KEYS = ("sk_test_" + "A" * 43, "sk_live_x", "x", "é")
PLENTY = "1000000"
"""Requests a minute."""


@dataclass(frozen=True, kw_only=True)
class Arena:
    """Everything that a run needs."""

    service: RunningService
    database: Database
    callers: tuple[Caller, ...]
    pool: Pool
    receiver: str
    log: Path

    @property
    def owners(self) -> Mapping[str, Owner]:
        """The owners of keys, by the callers' names."""
        return {caller.name: caller.owner for caller in self.callers if caller.owner is not None}

    def read_log(self) -> list[dict[str, object]]:
        """Return what the service's processes have logged so far."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]


@contextmanager
def open_arena(url: str, folder: Path, **settings: str) -> Iterator[Arena]:
    """Start everything on an empty database, and end it."""
    database = Database(url)
    upgrade(database.engine)
    log = folder / "log"
    with listen() as receiver:
        with redirect_stdout(io.StringIO()):  # where this process logs
            pool, callers = seed(database, folder, receiver)
        given = {
            "DATABASE_URL": url,
            "SECRET_KEYS": SECRET_KEY,
            "ALLOW_LOCAL_WEBHOOKS": "true",
            "LOG_LEVEL": "INFO",
            **dict.fromkeys(("RATE_LIMIT_KEY", "RATE_LIMIT_ROUTING", "RATE_LIMIT_KEYLESS", "RATE_LIMIT_PAGE"), PLENTY),
            **settings,
        }
        try:
            with run_service(folder, log=log, **given) as service:
                yield Arena(service=service, database=database, callers=callers, pool=pool, receiver=receiver, log=log)
            empty(database)
        finally:
            database.close()


@contextmanager
def listen() -> Iterator[str]:
    """Receive webhooks on loopback: the path says with which status they are answered."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked = self.path.strip("/")[:3]
            self.send_response(int(asked) if asked in {"200", "410", "500"} else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def seed(database: Database, folder: Path, receiver: str) -> tuple[Pool, tuple[Caller, ...]]:
    """Let two vendors do business for three hours, with orders in every state; return what they know of it."""
    clock = SettableClock(datetime.now(UTC) - AGO)
    config = Config(
        data_dir=folder,
        database_url=database.engine.url.render_as_string(hide_password=False),
        secret_keys=(SECRET_KEY,),
        allow_local_webhooks=True,
    )
    resources = Resources(
        config=config,
        clock=clock,
        database=database,
        market=MarketService(load_offline(None), clock),
        ledgers={EnvMode.TEST: SimulatedLedger(database, clock)},
        resolver=StaticResolver(("93.184.216.34",)),
    )
    client = build_app(resources).test_client()
    with database.write() as session:
        merchants = [Merchant(create_vendor(session, name, clock.now())) for name in VENDORS]
    owners = tuple((merchant.id, str(env_mode)) for merchant in merchants for env_mode in EnvMode)
    pool = Pool(owners=owners)
    for merchant in merchants:
        shop = Shop(client=client, resources=resources, clock=clock, merchant=merchant)
        do_business(shop, Desk.of(resources, client), pool, receiver)
    for merchant in merchants:
        tell_pool(Shop(client=client, resources=resources, clock=clock, merchant=merchant), pool)
    return pool, make_callers(database, merchants)


def do_business(shop: Shop, desk: Desk, pool: Pool, receiver: str) -> None:
    """Make orders in every state, webhooks and deliveries in theirs, and transfers that count for no order."""
    desk.transport.answer = lambda _: HttpReply(status=200)
    scene = Scene(shop=shop, desk=desk, webhook_id=desk.subscribe(shop.merchant, url=f"{receiver}/200")["webhook_id"])
    for action in ("pay", "underpay", "overpay", "pay_late", "wrong_token", "bridge_delay", "bridge_fail", "expire"):
        shop.simulate(shop.create(), action)
    for _ in range(STRAYS):
        send(shop, shop.create(), 10**6, reference=None)
    paid = [scene.make_paid_order() for _ in range(3)]
    for order in paid:
        asked = shop.post(f"/api/v1/payment/{order}/refund", {"amount": "100000"})
        shop.post(f"/api/v1/payment/{order}/cancel_refund", {"refund": asked.get_json()["refunds"][0]["id"]})
        pool.gather((shop.merchant.id, str(EnvMode.TEST)), asked.get_data(as_text=True))
    shop.post(f"/api/v1/payment/{paid[0]}/refund", {"amount": "300000"})
    shop.post(f"/api/v1/payment/{shop.create()}/cancel")
    shop.create_live()
    scene.make_lapsed_webhook()
    shop.wait(60)
    desk.work()
    desk.dispatcher.end()


def tell_pool(shop: Shop, pool: Pool) -> None:
    """Read everything that a vendor can list, in both environments."""
    for env_mode in EnvMode:
        owner = (shop.merchant.id, str(env_mode))
        for path in ("payment", "events", "webhook_subscription", "unmatched_transfer"):
            answer = shop.get(f"/api/v1/{path}", env_mode=env_mode)
            assert answer.status_code == 200, answer.get_json()
            pool.gather(owner, answer.get_data(as_text=True))
        for webhook in shop.get("/api/v1/webhook_subscription", env_mode=env_mode).get_json()["data"]:
            listed = shop.get(f"/api/v1/webhook_subscription/{webhook['webhook_id']}/deliveries", env_mode=env_mode)
            pool.gather(owner, listed.get_data(as_text=True))


def make_callers(database: Database, merchants: list[Merchant]) -> tuple[Caller, ...]:
    """Return who asks: both vendors in both environments, with all scopes and each, with wrong keys and without."""
    now, callers = datetime.now(UTC), [Caller(name="keyless")]
    for number, merchant in enumerate(merchants):
        for env_mode in EnvMode:
            key, owner = merchant.vendor.keys[env_mode], (merchant.id, str(env_mode))
            callers.append(Caller(name=f"vendor {number} {env_mode}", key=key, owner=owner))
    owner = (merchants[0].id, EnvMode.TEST)
    with database.write() as session:
        for scope in Scope:
            key = create_key(session, owner, now, name=scope, scopes=frozenset({scope})).text
            callers.append(Caller(name=f"only {scope}", key=key, owner=(owner[0], str(owner[1]))))
        ended = create_key(session, owner, now - AGO, name="ended", lifetime=AGO / 2).text
    callers += [Caller(name="wrong key", key=key) for key in (*WRONG_KEYS, ended)]
    return tuple(callers)
