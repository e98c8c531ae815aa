"""The real service on a port of its own, and a merchant who sells with it; the test moves the clock and the worker."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvicorn
from sqlalchemy import delete, select

from api.app import build_app
from api.config import Config
from api.domain.env import EnvMode
from api.domain.ledger import Ledger
from api.services.chains.chain_access import ChainAccess
from api.services.market.market import MarketService
from api.services.market.supply import load_offline
from api.services.orders.creation import NewLink, create_link
from api.services.orders.expiry import expire_orders
from api.services.orders.views import PublicOrder, load_public_order
from api.services.resources import Resources
from api.services.settlement.watching.watcher import watch
from api.services.simulator.ledger import SimulatedLedger
from api.services.vendors.brands import change_brand
from api.services.vendors.vendors import Account, NewVendor, create_vendor, set_account
from api.serving.asgi import compose
from api.serving.connections import EndingProtocol
from api.storage.db import Database
from api.storage.migrations import upgrade
from api.storage.tables import PaymentOrder, SettlementAccount
from routing_engine import RouteRequest, Snapshot
from routing_engine.markets import ConcentratedPool, ConstantProductPool
from routing_engine.reference import token_registry
from tests.support.clock import SettableClock
from tests.support.shop import connected

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
SHOP = "https://shop.example"
TEA = {"title": "Darjeeling, first flush", "quantity": 2, "description": "100 g, whole leaf, picked in March"}
POT = {"title": "Teapot", "quantity": 1}
USDC_ON_BASE = token_registry.token("USDC", 8453).address
START_S = 30


@dataclass
class Shop:
    """One running service.

    `resources` is what its requests and its worker share.
    """

    resources: Resources
    clock: SettableClock
    market_file: Path
    merchants: int = 0
    owners: dict[str, NewVendor] = field(default_factory=dict)

    def order(self, *, merchant: str = "Tea & Co", **changes: Any) -> str:
        """Make an order and return its id; `changes` replace parts of the link."""
        return self._link(self._merchant(merchant).vendor_id, **changes)

    def _link(self, vendor_id: str, shared: Resources | None = None, **changes: Any) -> str:
        link = {
            "line_items": (TEA, POT),
            "order_price": {"currency": "USDC", "amount": 42_500_000, "decimals": 6},
            "env_mode": EnvMode.TEST,
            "success_callback_url": f"{SHOP}/done?success=true",
            "cancel_callback_url": f"{SHOP}/cart",
            "failure_callback_url": f"{SHOP}/failed#top",
            "metadata": {"secret": "cart-4711"},
        }
        return create_link(shared or self.resources, vendor_id, NewLink(**{**link, **changes}))["payment_order_id"]

    def real_order(self, env_mode: EnvMode = EnvMode.LIVE, address: str = f"0x{'ab' * 20}", **changes: Any) -> str:
        """Make an order of a vendor who has said where on a real chain it receives."""
        account = Account(currency="USDC", chain_id=8453, token_address=USDC_ON_BASE, token_decimals=6, address=address)
        vendor = self.owners[address] = self.owners.get(address) or self._merchant("Tea & Co")
        with self.resources.database.write() as session:
            set_account(session, vendor.vendor_id, env_mode, account, self.clock.now())
        shared = self.resources if env_mode in self.resources.ledgers else connected(self.resources, env_mode)
        return self._link(vendor.vendor_id, shared, env_mode=env_mode, **changes)

    def order_without_account(self) -> str:
        """Make an order that nobody can pay: of a vendor who receives nowhere, on the simulated ledger."""
        vendor = self._merchant("Tea & Co")
        with self.resources.database.write() as session:
            session.execute(delete(SettlementAccount).where(SettlementAccount.vendor_id == vendor.vendor_id))
        return self._link(vendor.vendor_id)

    def dress(self, order_id: str, *, logo: bytes | None = None, **texts: str) -> None:
        """Give the order's merchant a look."""
        with self.resources.database.write() as session:
            vendor_id = session.scalars(select(PaymentOrder.vendor_id).where(PaymentOrder.id == order_id)).one()
            change_brand(session, vendor_id, EnvMode.TEST, texts, logo, self.clock.now())

    def url(self, order_id: str) -> str:
        return f"{self.resources.config.base_url}/payment/{order_id}"

    def state(self, order_id: str) -> PublicOrder:
        return load_public_order(self.resources, order_id)

    def work(self, seconds: float = 1, *, rounds: int = 1) -> None:
        """Let time pass, and the worker look at the chains and the orders."""
        for _ in range(rounds):
            self.clock.advance(seconds=seconds)
            watch(self.resources)
            expire_orders(self.resources)

    def move_price(self, chain_id: int, *, selling: int) -> None:
        """Sell so much of a chain's coin in each of its pools: their prices differ, so that routes get cheaper."""
        snapshot = self.resources.market.snapshot
        coins = {"WETH", "ETH"}
        moved = []
        for market in snapshot.markets.values():
            if isinstance(market, (ConstantProductPool, ConcentratedPool)):
                first, second = market.tokens
                sold, bought = (first, second) if first.symbol in coins else (second, first)
                if sold.chain_id == chain_id and sold.symbol in coins and bought.symbol not in coins:
                    moved.append(market.swap_exact_in(sold, bought, selling)[1])
        snapshot.apply(moved).save(self.market_file)
        self.resources.market.refresh()

    def restore_price(self) -> None:
        """Go back to the sandbox market."""
        Snapshot.sandbox().save(self.market_file)
        self.resources.market.refresh()

    def _merchant(self, name: str) -> NewVendor:
        """Make a vendor of this name; the names of vendors are unique, so earlier ones get another."""
        self.merchants += 1
        with self.resources.database.write() as session:
            return create_vendor(session, f"{name} {self.merchants}", self.clock.now())


@contextmanager
def open_shop(
    folder: Path,
    *,
    start: datetime = START,
    snapshot: Snapshot | None = None,
    chain_access: Mapping[EnvMode, ChainAccess] | None = None,
    ledgers: Mapping[EnvMode, Ledger] | None = None,
    **settings: Any,
) -> Iterator[Shop]:
    """Serve on a free port until the block ends, on simulated chains and the sandbox's market unless given others."""
    clock, market_file = SettableClock(start), folder / "market.json.gz"
    (snapshot or Snapshot.sandbox()).save(market_file)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        config = Config(
            data_dir=folder,
            database_url=f"sqlite:///{folder / 'checkout.db'}",
            base_url=f"http://127.0.0.1:{port}",
            port=port,
            **{
                "rate_limit_key": 100_000,
                "rate_limit_routing": 100_000,
                "rate_limit_keyless": 100_000,
                "rate_limit_page": 100_000,
                **settings,
            },
        )
        database = Database(config.database_url)
        upgrade(database.engine)
        market = MarketService(load_offline(market_file), clock)
        market.load()
        if snapshot is None:
            _compile_kernels(market)
        resources = Resources(
            config=config,
            clock=clock,
            database=database,
            market=market,
            chain_access=chain_access or {},
            ledgers={EnvMode.TEST: SimulatedLedger(database, clock), **(ledgers or {})},
        )
        with _serving(resources, listener):
            yield Shop(resources=resources, clock=clock, market_file=market_file)
        database.close()


def _compile_kernels(market: MarketService) -> None:
    """Ask for one route now: where the kernels changed, they are compiled, and no test has to wait for that."""
    ether, dollar = market.snapshot.token("ETH@42161"), market.snapshot.token("USDC@8453")
    market.router.find_routes(RouteRequest(token_in=ether, token_out=dollar, amount=10**6, side="exact_out"))


@contextmanager
def _serving(resources: Resources, listener: socket.socket) -> Iterator[None]:
    app = compose(build_app(resources), threads=8)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=EndingProtocol,
            log_config=None,
            ws="websockets-sansio",
            lifespan="off",
            server_header=False,
        )
    )
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    deadline = time.monotonic() + START_S
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise RuntimeError("the server did not start")
        thread.join(0.02)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(START_S)
