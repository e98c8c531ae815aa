"""A shop whose customers pay on real chains: anvils with the contracts of the main nets, and the service watching."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from adapters.transactions.payment_builders import PaymentBuilders
from adapters.transactions.simulation import PaymentChain
from api.app import build_app
from api.config import Config
from api.context import attach_resources
from api.domain.confirmations import Confirmations
from api.domain.env import EnvMode
from api.services.chains.chain_access import ChainAccess, Firm
from api.services.ledger.chain_ledger import connect_ledger
from api.services.market.market import MarketService
from api.services.market.supply import load_offline
from api.services.orders.expiry import expire_orders
from api.services.resources import Resources
from api.services.settlement.crediting.unmatched_transfers import list_unmatched
from api.services.settlement.watching.watcher import watch
from api.services.vendors.vendors import Account, set_account
from api.storage.db import Database
from api.storage.tables import PaymentOrder
from routing_engine import Market, Snapshot
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference import token_registry
from tests.api.conftest import Merchant
from tests.support.chain import GAS, Chain
from tests.support.clock import SettableClock
from tests.support.main_net import MainNet
from tests.support.shop import Shop
from tests.support.vendors import VendorMaker

PRICE = 1_000_000
"""One dollar of USDC."""
FINAL_BLOCKS = 70
"""Anvil calls final what is 64 blocks deep."""

_STANDING: list[Flask] = []
"""The application, once it was built."""
_VENDORS = VendorMaker()


def somebody(name: str) -> str:
    """Make an address up."""
    return "0x" + hashlib.sha256(name.encode()).hexdigest()[:40]


@dataclass(frozen=True)
class Wallet:
    """Somebody on one chain, who signs whatever the test says."""

    chain: Chain
    address: str

    def send(self, to: str, data: bytes = b"", *, value: int = 0, mine: bool = True, **fields: str) -> str:
        """Send a transaction, and mine it unless it is to wait; return its hash."""
        sent = {"from": self.address, "to": to, "data": "0x" + data.hex(), "value": hex(value), "gas": hex(GAS)}
        self.chain.rpc("anvil_impersonateAccount", self.address)
        tx_hash = str(self.chain.rpc("eth_sendTransaction", sent | fields))
        if mine:
            self.chain.mine()
        return tx_hash

    def sign(self, transactions: Iterable[Mapping[str, Any]]) -> str:
        """Send what the page asks for, with its gas limits; return the last hash."""
        tx_hash = ""
        for each in transactions:
            data = bytes.fromhex(each["data"][2:])
            tx_hash = self.send(each["to"], data, value=int(each["value"], 16), gas=each["gas"], gasPrice="0x0")
            receipt = self.chain.rpc("eth_getTransactionReceipt", tx_hash)
            assert receipt["status"] == "0x1", each["purpose"]
        return tx_hash

    def pay(self, token: str, recipient: str, amount: int, reference: bytes = b"", **options: Any) -> str:
        """Transfer a token, with something behind the arguments."""
        return self.send(token, transfer_data(recipient, amount) + reference, **options)


def transfer_data(recipient: str, amount: int) -> bytes:
    """Return the calldata of ``transfer``."""
    return bytes.fromhex("a9059cbb") + bytes(12) + bytes.fromhex(recipient[2:]) + amount.to_bytes(32)


@dataclass(frozen=True)
class ChainShop:
    """A merchant who is paid on real chains."""

    shop: Shop
    nets: Mapping[int, MainNet]
    address: str
    env_mode: EnvMode = EnvMode.TEST

    @property
    def clock(self) -> SettableClock:
        return self.shop.clock

    def token(self, chain_id: int, symbol: str = "USDC") -> str:
        """Return a token's address."""
        return NATIVE_ADDRESS if symbol == "ETH" else token_registry.token(symbol, chain_id).address

    def customer(self, chain_id: int, name: str = "customer", **funds: int) -> Wallet:
        """Return a customer's wallet, with gas money and some tokens."""
        net, wallet = self.nets[chain_id], Wallet(self.nets[chain_id].chain, somebody(name))
        net.fund(wallet.address, "ETH", 10**20)
        for symbol, amount in ({"USDC": 100 * PRICE} | funds).items():
            net.fund(wallet.address, symbol, amount)
        return wallet

    def quote(self, order_id: str, chain_id: int, symbol: str) -> dict[str, Any]:
        """Ask, as the page does, what paying in a token takes."""
        body = {"chainId": chain_id, "token": self.token(chain_id, symbol)}
        return self._asked(order_id, "quote", body)

    def transactions(self, order_id: str, quote: Mapping[str, Any], customer: Wallet) -> list[dict[str, Any]]:
        """Ask, as the page does, what the customer's wallet is to sign."""
        body = {"quote_id": quote["quote_id"], "payer": customer.address}
        found: list[dict[str, Any]] = self._asked(order_id, "transactions", body)["transactions"]
        return found

    def _asked(self, order_id: str, what: str, body: Mapping[str, Any]) -> dict[str, Any]:
        answer = self.shop.client.post(f"/payment/{order_id}/{what}", json=body)
        assert answer.status_code == 200, answer.get_json()
        found: dict[str, Any] = answer.get_json()
        return found

    def wallet(self, chain_id: int) -> Wallet:
        """Return the merchant's own wallet."""
        self.nets[chain_id].fund(self.address, "ETH", 10**20)
        return Wallet(self.nets[chain_id].chain, self.address)

    def order(self, **changes: object) -> tuple[str, bytes]:
        """Create an order of one dollar unless told otherwise; return its id and its reference."""
        callbacks = {f"{name}_callback_url": "https://shop.example/" for name in ("success", "cancel", "failure")}
        changes = changes if self.env_mode == EnvMode.TEST else {**callbacks, **changes}
        order_id = self.shop.create(env_mode=self.env_mode, **changes)
        with self.shop.resources.database.read() as session:
            return order_id, session.get_one(PaymentOrder, order_id).payment_reference

    def look(self, times: int = 2) -> None:
        """Let blocks be mined a few seconds apart on every chain, and the worker look at each."""
        for _ in range(times):
            self.pass_time(2)
            watch(self.shop.resources)
            expire_orders(self.shop.resources)

    def pass_time(self, seconds: float, blocks: int = 1) -> None:
        """Let time pass on the chains and on the clock."""
        now = max(self.clock.now(), _now(self.nets)).timestamp() + seconds
        self.clock.set(datetime.fromtimestamp(now, UTC))
        for net in self.nets.values():
            net.chain.rpc("evm_setNextBlockTimestamp", int(now))
            net.chain.mine()
            if blocks > 1:
                net.chain.mine(blocks - 1)
        self.clock.set(_now(self.nets))

    def finalise(self) -> None:
        """Let everything become final, and the worker see it."""
        self.pass_time(2, FINAL_BLOCKS)
        self.look()

    def balance(self, chain_id: int, symbol: str = "USDC") -> int:
        """Return what the merchant has."""
        return self.nets[chain_id].balance(self.address, symbol)

    def outcome(self, order_id: str) -> str:
        """Return an order's status and its reason."""
        order = self.shop.order(order_id)
        return f"{order['payment_order_status']}/{order['status_reason']}"

    def unmatched(self) -> list[tuple[str, str]]:
        """Return why payments are on the operator's list, and for which order they were meant."""
        with self.shop.resources.database.read() as session:
            return [(row["reason"], row["claimed_order_id"]) for row in list_unmatched(session, EnvMode.TEST)]


@contextmanager
def chain_shop(
    nets: Mapping[int, MainNet],
    folder: Path,
    name: str,
    lent: AbstractContextManager[Database],
    markets: Iterable[Market] = (),
    firm: Firm | None = None,
    *,
    endpoints: Mapping[int, tuple[str, ...]] | None = None,
    env_modes: Sequence[EnvMode] = (EnvMode.TEST,),
) -> Iterator[ChainShop]:
    """Open a shop of a new merchant, with the database that is lent to it, on chains that run already.

    Afterwards the chains are put back: the longer one is, the longer each of its blocks takes. With markets the page
    pays over them, and `firm` confirms those that are bridges. The worker reads the chains through `endpoints` where
    those are given, for each of `env_modes`.
    """
    with ExitStack() as stack:
        database = stack.enter_context(lent)
        for net in nets.values():
            stack.enter_context(net.chain.undone())
        clock = SettableClock(_now(nets))
        urls = {chain_id: (net.chain.url,) for chain_id, net in nets.items()} | dict(endpoints or {})
        config = Config(
            data_dir=folder,
            database_url=database.engine.url.render_as_string(hide_password=False),
            base_url="https://pay.example",
            rate_limit_key=100_000,
            rate_limit_routing=100_000,
            rate_limit_keyless=100_000,
            rate_limit_page=100_000,
            test_rpc_urls=urls,
            confirmations=Confirmations.parse("*:100=1,1000=6;1:100=2,1000=6"),
        )
        resources = Resources(
            config=config,
            clock=clock,
            database=database,
            market=MarketService(load_offline(_market_file(folder, markets)), clock),
            chain_access=_access(nets, firm),
            ledgers={each: connect_ledger(urls, EnvMode.TEST, clock) for each in env_modes},
        )
        yield open_account(resources, nets, _serve(resources), clock, f"merchant of {name}")


def open_another(shop: ChainShop, name: str, env_mode: EnvMode = EnvMode.TEST) -> ChainShop:
    """Open the shop of another merchant beside one, with the same service and on the same chains."""
    return open_account(shop.shop.resources, shop.nets, shop.shop.client, shop.clock, name, env_mode)


def open_account(
    resources: Resources,
    nets: Mapping[int, MainNet],
    client: FlaskClient,
    clock: SettableClock,
    name: str,
    env_mode: EnvMode = EnvMode.TEST,
) -> ChainShop:
    """Make a merchant who receives USDC and coin on Base."""
    address = somebody(name)
    with resources.database.write() as session:
        vendor = _VENDORS.make(session, f"Tea & {name}", clock.now())
        for symbol in ("USDC", "ETH"):
            token = token_registry.token(symbol, 8453)
            account = Account(
                currency=symbol,
                chain_id=8453,
                token_address=token.address,
                token_decimals=token.decimals,
                address=address,
            )
            set_account(session, vendor.vendor_id, env_mode, account, clock.now())
    shop = Shop(client=client, resources=resources, clock=clock, merchant=Merchant(vendor))
    return ChainShop(shop=shop, nets=nets, address=address, env_mode=env_mode)


def _serve(resources: Resources) -> FlaskClient:
    """Return a client of the application that goes from shop to shop: building one takes longer than a look."""
    if not _STANDING:
        _STANDING.append(build_app(resources))
    attach_resources(_STANDING[0], resources)
    return _STANDING[0].test_client()


def _now(nets: Mapping[int, MainNet]) -> datetime:
    """Return when the newest of all blocks was mined."""
    return datetime.fromtimestamp(max(net.chain.now() for net in nets.values()), UTC)


def _market_file(folder: Path, markets: Iterable[Market]) -> Path | None:
    found = tuple(markets)
    if not found:
        return None
    Snapshot(found).save(file := folder / "market.json.gz")
    return file


def _access(nets: Mapping[int, MainNet], firm: Firm | None) -> Mapping[EnvMode, ChainAccess]:
    if firm is None:
        return {}
    chains = {chain_id: PaymentChain(net.rpc()) for chain_id, net in nets.items()}
    return {EnvMode.TEST: ChainAccess(chains=chains, builders=PaymentBuilders.load(), firm=firm)}
