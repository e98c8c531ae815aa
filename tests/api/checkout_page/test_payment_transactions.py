"""From a quote to a wallet's transactions and to the merchant's balance, on a real EVM with real contracts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from eth_abi import decode
from flask.testing import FlaskClient

from adapters.base import Declined, FirmQuote
from adapters.http.client import HttpLimits, JsonClient
from adapters.rpc.endpoint_pool import RpcPool
from adapters.transactions.payment_builders import PaymentBuilders
from adapters.transactions.simulation import PaymentChain
from api.app import build_app
from api.domain.env import EnvMode
from api.services.chains.chain_access import ChainAccess
from api.services.market.market import MarketService
from api.services.market.supply import load_offline
from api.services.orders.views import PublicOrder, load_public_order
from api.services.resources import Resources
from routing_engine import Hop, Market, Snapshot
from routing_engine.markets.bridges import across_lane
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.main_net import MainNet, fact, running_main_net
from tests.support.shop import Shop

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
"""Nothing is written here but quotes, whose own tests run on both databases."""

CHAIN = 8453
PAYER = "0x" + "aa" * 20
PRICE = 42_500_000
USDC = token_registry.token("USDC", CHAIN)
WETH = CHAINS[CHAIN].wrapped_native_token
SPOKE_POOL = fact("across", CHAIN, "spoke_pool")
REFUSES_CALLDATA = bytes.fromhex("36600557005b5f5ffd")
"""Reverts if it is called with any data."""
MOST_GAS = 10**6
"""Wei: a wei for each unit."""


@dataclass
class Bridge:
    """Confirms Across at its lane's terms; `worse_by` is what relayers keep more by now, in millionths."""

    lane: Market
    now: int
    worse_by: int = 0
    declines: bool = False
    asked: list[tuple[int, str, str]] = field(default_factory=list)

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        self.asked.append((hop.amount_in, sender, recipient))
        if self.declines:
            raise Declined("across: paused", status=400)
        made, _ = self.lane.swap_exact_in(hop.token_in, hop.token_out, hop.amount_in)
        made = replace(made, amount_out=made.amount_out * (10**6 - self.worse_by) // 10**6)
        moments = {"timestamp": self.now, "fillDeadline": self.now + 20_000, "exclusivityDeadline": 0}
        nobody = {"exclusiveRelayer": "0x" + "00" * 20, "spokePoolAddress": SPOKE_POOL}
        return FirmQuote(hop=made, terms={**moments, **nobody})


@dataclass
class Till:
    """A merchant whose test orders are paid on a real chain, and the wallet of a customer."""

    shop: Shop
    net: MainNet
    bridge: Bridge

    @property
    def client(self) -> FlaskClient:
        return self.shop.client

    def order(self, **changes: object) -> PublicOrder:
        price = {"currency": "USDC", "amount": PRICE, "decimals": 6}
        return load_public_order(self.shop.resources, self.shop.create(**{"order_price": price, **changes}))

    def quote(self, order: PublicOrder, token: str) -> dict[str, Any]:
        body = {"chainId": CHAIN, "token": token}
        answer = self.client.post(f"/payment/{order.order_id}/quote", json=body)
        assert answer.status_code == 200, answer.get_json()
        found: dict[str, Any] = answer.get_json()
        return found

    def ask(self, order: PublicOrder, quote: dict[str, Any], **changes: object) -> tuple[int, dict[str, Any]]:
        body = {"quote_id": quote["quote_id"], "payer": PAYER, **changes}
        answer = self.client.post(f"/payment/{order.order_id}/transactions", json=body)
        return answer.status_code, answer.get_json()

    def prepared(self, order: PublicOrder, token: str) -> dict[str, Any]:
        status, body = self.ask(order, self.quote(order, token))
        assert status == 200, body
        return body

    def send(self, transactions: Sequence[dict[str, Any]]) -> None:
        for each in transactions:
            wanted = {name: each[name] for name in ("to", "value", "data", "gas")}
            sent = self.net.chain.rpc("eth_sendTransaction", {"from": PAYER, **wanted, "gasPrice": "0x1"})
            self.net.chain.mine()
            assert self.net.chain.rpc("eth_getTransactionReceipt", sent)["status"] == "0x1"


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    """Base, with a pair and a pool."""
    with running_main_net(CHAIN) as net:
        net.pair("WETH", 10**21, "USDC", 3 * 10**12)
        net.pool("WETH", 10**22, "USDC", 3 * 10**13, 500)
        net.chain.rpc("anvil_impersonateAccount", PAYER)
        yield net


@pytest.fixture
def till(
    resources: Resources, net: MainNet, merchant: Merchant, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Till]:
    """The service, whose test environment is that chain; the chain is put back afterwards."""
    before = net.chain.rpc("evm_snapshot")
    clock = SettableClock(datetime.fromtimestamp(net.chain.now(), UTC))
    lane = across_lane(
        USDC, token_registry.token("USDC", 10), capital_fee_e18=10**14, lp_fee_e18=0, relayer_gas_fee=10_000,
        min_deposit=1, max_deposit=10**15, fill_time_s=4,
    )  # fmt: skip
    file = tmp_path / "market.json.gz"
    Snapshot((*net.markets(), lane)).save(file)
    bridge = Bridge(lane, int(net.chain.now()))
    world = ChainAccess(chains={CHAIN: PaymentChain(net.rpc())}, builders=PaymentBuilders.load(), firm=bridge)
    market = MarketService(load_offline(file), clock)
    real = replace(resources, clock=clock, market=market, chain_access={EnvMode.TEST: world})
    net.fund(PAYER, "ETH", 10**18)
    shop = Shop(client=build_app(real).test_client(), resources=real, clock=clock, merchant=merchant)
    yield Till(shop, net, bridge)
    net.chain.rpc("evm_revert", before)


def to(order: PublicOrder) -> str:
    assert order.settlement_address is not None
    return order.settlement_address


@pytest.mark.parametrize(("symbol", "purposes"), [("WETH", ["approve", "pay"]), ("ETH", ["pay"]), ("USDC", ["pay"])])
def test_what_the_wallet_signs_brings_the_merchant_just_the_price(till: Till, symbol: str, purposes: list[str]) -> None:
    order = till.order()
    address = NATIVE_ADDRESS if symbol == "ETH" else till.net.token(symbol).address
    quote = till.quote(order, address)
    if symbol != "ETH":
        till.net.fund(PAYER, symbol, 10**17)
    status, body = till.ask(order, quote)
    assert status == 200, body
    assert (body["chain_hex"], body["payer"], body["has_reference"]) == (hex(CHAIN), PAYER, True)
    assert [each["purpose"] for each in body["transactions"]] == purposes
    assert body["transactions"][-1]["data"].endswith(order.payment_reference.hex())
    owned, held = till.net.balance(to(order), "USDC"), till.net.balance(PAYER, symbol)
    till.send(body["transactions"])
    assert till.net.balance(to(order), "USDC") - owned == PRICE
    quoted, spent = int(quote["pay_amount"]), held - till.net.balance(PAYER, symbol)
    assert quoted <= spent <= -(-quoted * 10_050 // 10_000) + MOST_GAS


def test_an_order_in_the_coin_is_paid_by_a_swap_that_unwraps(till: Till) -> None:
    price = 10**16 + 1
    order = till.order(order_price={"currency": "ETH", "amount": price, "decimals": 18})
    till.net.fund(PAYER, "USDC", 10**8)
    body = till.prepared(order, USDC.address)
    assert [each["purpose"] for each in body["transactions"]] == ["approve", "pay"]
    owned = till.net.balance(to(order), "ETH")
    till.send(body["transactions"])
    assert till.net.balance(to(order), "ETH") - owned == price


def test_allowances_are_exact_and_not_asked_for_twice(till: Till) -> None:
    order = till.order()
    till.net.fund(PAYER, "WETH", 10**18)
    quote = till.quote(order, WETH.address)
    _, body = till.ask(order, quote)
    approval, _ = body["transactions"]
    spender, amount = decode(["address", "uint256"], bytes.fromhex(approval["data"][10:]))
    assert (spender, approval["to"]) == (body["transactions"][1]["to"], WETH.address)
    assert int(quote["pay_amount"]) <= amount <= -(-int(quote["pay_amount"]) * 10_050 // 10_000)
    till.send([approval])
    _, again = till.ask(order, quote)
    assert [each["purpose"] for each in again["transactions"]] == ["pay"]
    dearer = till.order(order_price={"currency": "USDC", "amount": 2 * PRICE, "decimals": 6})
    both = till.prepared(dearer, WETH.address)["transactions"]
    assert [each["purpose"] for each in both] == ["reset_allowance", "approve", "pay"]
    till.send(both)
    assert till.net.balance(to(dearer), "USDC") >= 2 * PRICE


def test_a_recipient_that_refuses_data_gets_the_plain_transfer(till: Till) -> None:
    order = till.order(order_price={"currency": "ETH", "amount": 10**15, "decimals": 18})
    assert (order.settlement_chain_id, order.settlement_token_address) == (CHAIN, NATIVE_ADDRESS)
    assert till.prepared(order, NATIVE_ADDRESS)["has_reference"]
    till.net.chain.set_code(to(order), REFUSES_CALLDATA)
    body = till.prepared(order, NATIVE_ADDRESS)
    (only,) = body["transactions"]
    assert (body["has_reference"], only["data"], int(only["value"], 16)) == (False, "0x", 10**15)
    till.send([only])
    assert till.net.balance(to(order), "ETH") == 10**15


def test_too_little_in_the_wallet_is_said_before_anything_is_signed(till: Till) -> None:
    order = till.order()
    status, body = till.ask(order, till.quote(order, USDC.address))
    assert (status, body["reason"]) == (409, "balance_too_low")
    assert body["explanation"].startswith("This wallet holds 0.00 USDC on Base, and 42.50 USDC are needed.")


def test_a_payment_that_would_fail_by_now_is_not_offered(till: Till) -> None:
    order = till.order()
    till.net.fund(PAYER, "WETH", 10**18)
    quote = till.quote(order, WETH.address)
    path = [WETH.address, USDC.address]
    till.net.v2_router("swapExactTokensForTokens", 10**20, 0, path, "0x" + "01" * 20, 2**255)
    pool = till.net.v3_factory("getPool", *path, 500)
    till.net.chain.set_code(pool, REFUSES_CALLDATA)
    status, body = till.ask(order, quote)
    assert (status, body["reason"]) == (409, "payment_would_fail")


@pytest.fixture
def on_optimism(till: Till, monkeypatch: pytest.MonkeyPatch) -> PublicOrder:
    """An order that the merchant wants on another chain, to be paid over the bridge."""
    from api.services.vendors.vendors import Account, set_account

    account = Account(
        currency="USDC", chain_id=10, token_address=token_registry.token("USDC", 10).address, token_decimals=6,
        address="0x" + "b0" * 20,
    )  # fmt: skip
    with till.shop.resources.database.write() as session:
        set_account(session, till.shop.merchant.id, EnvMode.TEST, account, till.shop.clock.now())
    till.net.fund(PAYER, "USDC", 10**8)
    return till.order()


DEPOSIT = ["address"] * 4 + ["uint256"] * 3 + ["address"] + ["uint32"] * 3 + ["bytes"]


@pytest.mark.parametrize("worse_by", [0, 1000])
def test_a_deposit_is_what_the_bridge_confirms_for_this_payer(
    till: Till, on_optimism: PublicOrder, worse_by: int
) -> None:
    quote = till.quote(on_optimism, USDC.address)
    quoted = int(quote["pay_amount"])
    most = -(-quoted * 10_030 // 10_000)
    till.bridge.worse_by = worse_by
    status, body = till.ask(on_optimism, quote)
    assert status == 200, body
    amount, *asked_for = till.bridge.asked[-1]
    assert asked_for == [PAYER, on_optimism.settlement_address]
    assert quoted < amount <= most if worse_by else amount == quoted
    assert amount <= quoted * (10**6 + 2 * worse_by) // 10**6, "no more than the bridge needs by now"
    approval, deposit = body["transactions"]
    assert decode(["address", "uint256"], bytes.fromhex(approval["data"][10:])) == (SPOKE_POOL, amount)
    told = decode(DEPOSIT, bytes.fromhex(deposit["data"][10:]))
    assert told[:2] == (PAYER, on_optimism.settlement_address)
    assert told[4:7] == (amount, PRICE, 10)
    assert deposit["data"].endswith(on_optimism.payment_reference.hex())
    till.send(body["transactions"])
    assert till.net.balance(SPOKE_POOL, "USDC") == amount


def test_a_bridge_that_asks_for_more_than_agreed_leads_to_a_new_quote(till: Till, on_optimism: PublicOrder) -> None:
    quote = till.quote(on_optimism, USDC.address)
    till.bridge.worse_by = 4000
    status, body = till.ask(on_optimism, quote)
    assert (status, body["reason"]) == (409, "quote_expired")


def test_a_bridge_that_is_silent_is_no_fault_of_the_customer(till: Till, on_optimism: PublicOrder) -> None:
    quote = till.quote(on_optimism, USDC.address)
    till.bridge.declines = True
    status, _ = till.ask(on_optimism, quote)
    assert status == 503


def test_a_quote_is_for_its_order_and_its_minute(till: Till) -> None:
    order, other = till.order(), till.order()
    quote = till.quote(order, USDC.address)
    assert till.ask(other, quote)[0] == 404
    till.shop.clock.advance(seconds=61)
    status, body = till.ask(order, quote)
    assert (status, body["reason"]) == (409, "quote_expired")


def test_orders_on_simulated_chains_have_no_transactions(shop: Shop) -> None:
    order_id = shop.create()
    quote = shop.client.post(f"/payment/{order_id}/quote", json={"chainId": CHAIN, "token": USDC.address}).get_json()
    body = {"quote_id": quote["quote_id"], "payer": PAYER}
    answer = shop.client.post(f"/payment/{order_id}/transactions", json=body)
    assert (answer.status_code, answer.get_json()["reason"]) == (409, "order_not_payable")


def test_a_token_that_no_single_transaction_turns_into_the_price_has_no_quote(till: Till) -> None:
    order = till.order()
    for chain_id, token in ((CHAIN, token_registry.token("DAI", CHAIN)), (1, token_registry.token("USDC", 1))):
        body = {"chainId": chain_id, "token": token.address}
        answer = till.client.post(f"/payment/{order.order_id}/quote", json=body)
        assert (answer.status_code, answer.get_json()["reason"]) == (409, "no_route")


@pytest.mark.parametrize("payer", ["0x12", "0x" + "zz" * 20, None, 7, "0x" + "aa" * 21])
def test_a_payer_that_is_no_address_is_refused(till: Till, payer: object) -> None:
    order = till.order()
    status, body = till.ask(order, till.quote(order, USDC.address), payer=payer)
    assert (status, [row["path"] for row in body["error"]]) == (400, ["payer"])


def test_a_wallet_that_the_screen_rejects_gets_nothing_to_sign(till: Till) -> None:
    order = till.order()
    quote = till.quote(order, USDC.address)

    def broken(addresses: Collection[str]) -> Collection[str]:
        raise TimeoutError("no answer")

    outcomes = []
    for screen in (lambda addresses: addresses, broken):
        app = build_app(replace(till.shop.resources, screen=screen))
        body = {"quote_id": quote["quote_id"], "payer": PAYER}
        answer = app.test_client().post(f"/payment/{order.order_id}/transactions", json=body)
        outcomes.append((answer.status_code, answer.get_json().get("reason")))
    assert outcomes == [(409, "wallet_rejected"), (503, None)]


def test_only_chains_that_can_be_reached_are_offered(till: Till) -> None:
    order = till.order()
    found = till.client.get(f"/payment/{order.order_id}/tokens").get_json()["chains"]
    assert [chain["chain_id"] for chain in found] == [CHAIN]


def test_only_the_page_asks(till: Till) -> None:
    order = till.order()
    path, headers = f"/payment/{order.order_id}/transactions", {"Sec-Fetch-Site": "cross-site"}
    assert till.client.post(path, json={"quote_id": "qt_x", "payer": PAYER}, headers=headers).status_code == 403


def test_a_chain_that_does_not_answer_gives_503(till: Till) -> None:
    order = till.order()
    quote = till.quote(order, USDC.address)
    client = JsonClient(limits=HttpLimits(connect_s=0.2, read_s=0.2, total_s=0.5, tries=1))
    dead = PaymentChain(RpcPool(CHAIN, ["http://127.0.0.1:9/"], client=client, sleep=lambda _: None))
    world = replace(till.shop.resources.chain_access[EnvMode.TEST], chains={CHAIN: dead})
    app = build_app(replace(till.shop.resources, chain_access={EnvMode.TEST: world}))
    body = {"quote_id": quote["quote_id"], "payer": PAYER}
    answer = app.test_client().post(f"/payment/{order.order_id}/transactions", json=body)
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
