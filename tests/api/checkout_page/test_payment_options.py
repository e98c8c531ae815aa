"""The ways to pay that suit a wallet: on a real EVM, on chains that hang or lie, and on simulated ones."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from adapters.base import Declined, FirmQuote, VenueUnavailable
from adapters.http.client import HttpLimits, JsonClient
from adapters.rpc.endpoint_pool import RpcPool
from adapters.transactions.payment_builders import PaymentBuilders
from adapters.transactions.simulation import PaymentChain
from api.app import build_app
from api.context import attach_resources
from api.domain.env import EnvMode
from api.services.chains.chain_access import ChainAccess
from api.services.chains.inquiries import FRESH_S
from api.services.checkout.options import MOST_PRICED, PaymentOptions, list_options
from api.services.market.market import MarketService
from api.services.market.supply import load_offline
from api.services.orders.chain_reads import UNSEEN_AFTER
from api.services.resources import Resources
from api.services.vendors.vendors import Account, set_account
from routing_engine import Hop, Snapshot, Token
from routing_engine.markets.bridges import across_lane
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.api.conftest import Merchant
from tests.api.settlement.test_unread_chains import read_chain
from tests.support.clock import SettableClock
from tests.support.main_net import MainNet, running_main_net
from tests.support.shop import Shop, connected
from tests.support.silence import never_answering

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
"""Nothing is written here."""

BASE, OPTIMISM = 8453, 10
PAYER = "0x" + "aa" * 20
PRICE = 42_500_000
USDC = token_registry.token("USDC", BASE)
FAR_USDC = token_registry.token("USDC", OPTIMISM)
COIN = CHAINS[BASE].native_token
GAS_PRICE = 10**9
PUBLIC = ("https://", "http://", "rpc", "127.0.0.1")


class NoBridge:
    """Confirms nothing: nothing is signed here."""

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        raise Declined("no bridge here", status=404)


@dataclass
class FakeChain:
    """A chain that says what it is told to, when it is told to."""

    held: Mapping[Token, int] = field(default_factory=dict)
    fails: bool = False
    asked: int = 0

    def read_balances(self, tokens: Sequence[Token], holder: str) -> dict[Token, int]:
        self.asked += 1
        if self.fails:
            raise VenueUnavailable("it is down")
        return {token: self.held.get(token, 0) for token in tokens}


@dataclass
class Till:
    """A shop whose test orders are paid on Base, a real EVM, and on another chain."""

    shop: Shop
    net: MainNet

    def ask(self, order_id: str, account: str | None = PAYER, **more: Any) -> dict[str, Any]:
        body = {**({"account": account} if account else {}), **more}
        answer = self.shop.client.post(f"/payment/{order_id}/options", json=body)
        assert answer.status_code == 200, answer.get_json()
        found: dict[str, Any] = answer.get_json()
        return found

    def order(self) -> str:
        price = {"currency": "USDC", "amount": PRICE, "decimals": 6}
        order_id: str = self.shop.create(order_price=price)
        return order_id


def by_token(found: Mapping[str, Any]) -> dict[tuple[int, str], dict[str, Any]]:
    return {(row["chain_id"], row["symbol"]): row for row in found["options"]}


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    with running_main_net(BASE) as net:
        net.pool("WETH", 10**22, "USDC", 3 * 10**13, 500)
        yield net


@pytest.fixture
def open_till(resources: Resources, net: MainNet, merchant: Merchant, tmp_path: Path) -> Iterator[Callable[..., Till]]:
    """Open the service with some chain as the second one; the first is put back afterwards."""
    before = net.chain.rpc("evm_snapshot")
    clock = SettableClock(datetime.fromtimestamp(net.chain.now(), UTC))
    lane = across_lane(
        FAR_USDC, USDC, capital_fee_e18=10**14, lp_fee_e18=0, relayer_gas_fee=10_000,
        min_deposit=1, max_deposit=10**15, fill_time_s=4,
    )  # fmt: skip
    file = tmp_path / "market.json.gz"
    Snapshot((*net.markets(), lane), gas_prices={BASE: GAS_PRICE, OPTIMISM: GAS_PRICE}).save(file)

    def made(far: Any, near: Any = None) -> Till:
        chains = {BASE: near or PaymentChain(net.rpc()), OPTIMISM: far}
        access = ChainAccess(chains=chains, builders=PaymentBuilders.load(), firm=NoBridge())
        market = MarketService(load_offline(file), clock)
        real = replace(resources, clock=clock, market=market, chain_access={EnvMode.TEST: access})
        shop = Shop(client=build_app(real).test_client(), resources=real, clock=clock, merchant=merchant)
        return Till(shop, net)

    yield made
    net.chain.rpc("evm_revert", before)


def test_what_a_wallet_holds_comes_first_over_all_chains(open_till: Callable[..., Till], net: MainNet) -> None:
    far = FakeChain({FAR_USDC: 50 * 10**6, CHAINS[OPTIMISM].native_token: 10**18})
    till = open_till(far)
    net.fund(PAYER, "WETH", 10**18)
    net.fund(PAYER, "ETH", 10**18)
    found = till.ask(till.order())
    rows = by_token(found)
    assert found["unread"] == []
    assert {key for key, row in rows.items() if row["standing"] == "enough"} == {
        (BASE, "WETH"), (BASE, "ETH"), (OPTIMISM, "USDC"),
    }  # fmt: skip
    best = found["options"][0]
    assert best["held_text"].startswith("You have ")
    short = rows[BASE, "USDC"]
    assert (short["standing"], short["is_payable"]) == ("short", False)
    assert short["explanation"] == "You have 0.00 USDC, and 42.50 USDC are needed."
    assert [row["standing"] for row in found["options"]][-1] == "short"
    marks = [mark for row in found["options"] for mark in row["marks"]]
    assert sorted(marks) == ["Cheapest", "Fastest"]
    assert "Cheapest" in best["marks"]
    far_row = rows[OPTIMISM, "USDC"]
    assert far_row["price_text"].startswith("≈ 42.")
    assert far_row["pay_text"].endswith(" USDC")


def test_a_chain_that_nobody_reads_is_not_offered_until_it_is_read(open_till: Callable[..., Till]) -> None:
    till = open_till(FakeChain({FAR_USDC: 50 * 10**6, CHAINS[OPTIMISM].native_token: 10**18}))
    real = connected(till.shop.resources, EnvMode.TEST, BASE, OPTIMISM)
    attach_resources(till.shop.client.application, real)
    with real.database.write() as session:
        address = "0x" + "bb" * 20
        account = Account(currency="USDC", chain_id=BASE, token_address=USDC.address, token_decimals=6, address=address)
        set_account(session, till.shop.merchant.id, EnvMode.TEST, account, till.shop.clock.now())
    order_id = till.order()
    pay_far = {"chainId": OPTIMISM, "token": FAR_USDC.address}
    read_chain(till.shop, till.shop.clock.now(), EnvMode.TEST, BASE)
    read_chain(till.shop, till.shop.clock.now(), EnvMode.TEST, OPTIMISM)
    held = till.shop.client.post(f"/payment/{order_id}/quote", json=pay_far).get_json()
    assert till.ask(order_id)["note"] == ""
    till.shop.clock.advance(seconds=UNSEEN_AFTER.total_seconds() + 1)
    read_chain(till.shop, till.shop.clock.now(), EnvMode.TEST, BASE)
    found = till.ask(order_id)
    assert {row["chain_id"] for row in found["options"]} == {BASE}
    assert found["note"] == "Payments on Optimism can't be seen just now, so nothing is offered there."
    chains = till.shop.client.get(f"/payment/{order_id}/tokens").get_json()["chains"]
    assert [chain["chain_id"] for chain in chains] == [BASE]
    refused = till.shop.client.post(f"/payment/{order_id}/quote", json=pay_far)
    assert (refused.status_code, refused.get_json()["reason"]) == (409, "no_route")
    read_chain(till.shop, till.shop.clock.now(), EnvMode.TEST, OPTIMISM)
    assert (OPTIMISM, "USDC") in by_token(till.ask(order_id))
    assert held["chain_id"] == OPTIMISM


def test_the_coin_for_gas_is_counted(open_till: Callable[..., Till], net: MainNet) -> None:
    till = open_till(FakeChain())
    net.fund(PAYER, "USDC", 2 * PRICE)
    row = by_token(till.ask(till.order()))[BASE, "USDC"]
    assert (row["standing"], row["is_payable"]) == ("no_gas", False)
    # 65,000 gas at a gwei, and half as much again.
    assert row["explanation"] == "You need 0.0000975 ETH more for the network fee."
    net.fund(PAYER, "ETH", 10**14)
    time.sleep(FRESH_S)
    assert by_token(till.ask(till.order()))[BASE, "USDC"]["standing"] == "enough"


def test_a_chain_that_hangs_delays_no_other_and_is_not_called_empty(
    open_till: Callable[..., Till], net: MainNet
) -> None:
    with never_answering() as url:
        far = PaymentChain(RpcPool(OPTIMISM, [url], client=JsonClient(limits=HttpLimits(read_s=5, total_s=5, tries=1))))
        till = open_till(far)
        net.fund(PAYER, "USDC", 2 * PRICE)
        net.fund(PAYER, "ETH", 10**18)
        begun = time.monotonic()
        found = till.ask(till.order())
        assert time.monotonic() - begun < 2.5
    assert found["unread"] == [{"chain_id": OPTIMISM, "name": "Optimism", "coin": NATIVE_ADDRESS}]
    assert found["options"][0]["standing"] == "enough"
    far_row = by_token(found)[OPTIMISM, "USDC"]
    assert (far_row["standing"], far_row["held_text"]) == ("unknown", "Balance unknown")


@pytest.mark.parametrize("answer", ["0x", "garbage", "another chain"])
def test_a_chain_that_lies_is_unknown(open_till: Callable[..., Till], answer: str) -> None:
    class Liar:
        def get(self, url: str, params: Any = None) -> Any:
            raise AssertionError(url)

        def post(self, url: str, body: Any) -> Any:
            results = {"eth_chainId": hex(OPTIMISM), "eth_getBalance": hex(10**18), "eth_call": answer}
            if answer == "another chain":
                results["eth_chainId"] = "0x1"
            rows = body if isinstance(body, list) else [body]
            told = [{"jsonrpc": "2.0", "id": each["id"], "result": results[each["method"]]} for each in rows]
            return told if isinstance(body, list) else told[0]

    till = open_till(PaymentChain(RpcPool(OPTIMISM, ["http://liar"], client=Liar(), sleep=lambda _: None)))
    row = by_token(till.ask(till.order()))[OPTIMISM, "USDC"]
    assert (row["standing"], row["held_text"]) == ("unknown", "Balance unknown")


def test_the_wallet_is_believed_where_nobody_else_has_read(open_till: Callable[..., Till]) -> None:
    far, near = FakeChain(fails=True), FakeChain()
    till = open_till(far, near)
    rows = [
        {"chainId": OPTIMISM, "token": FAR_USDC.address, "amount": str(50 * 10**6)},
        {"chainId": OPTIMISM, "token": NATIVE_ADDRESS, "amount": str(10**18)},
        {"chainId": BASE, "token": USDC.address, "amount": str(10**30)},
        {"chainId": 999, "token": USDC.address, "amount": "1"},
    ]
    found = till.ask(till.order(), held=rows)
    known = by_token(found)
    assert (known[OPTIMISM, "USDC"]["standing"], known[BASE, "USDC"]["standing"]) == ("enough", "short")
    assert [row["chain_id"] for row in found["unread"]] == [OPTIMISM]


def test_without_a_wallet_the_useful_tokens_are_priced(open_till: Callable[..., Till]) -> None:
    far = FakeChain()
    till = open_till(far)
    found = till.ask(till.order(), account=None)
    assert far.asked == 0
    assert {row["standing"] for row in found["options"]} == {"unasked"}
    assert 2 <= len(found["options"]) <= MOST_PRICED
    assert {(row["held_text"], row["price_text"][:3]) for row in found["options"]} == {("", "≈ 4")}


def test_the_test_wallet_holds_everything(shop: Shop) -> None:
    order_id = shop.create(order_price={"currency": "USDC", "amount": PRICE, "decimals": 6})
    found = shop.client.post(f"/payment/{order_id}/options", json={"account": PAYER}).get_json()
    assert {row["standing"] for row in found["options"]} == {"enough"}
    assert len({row["chain_id"] for row in found["options"]}) == len(CHAINS)
    assert (found["options"][0]["symbol"], found["options"][0]["chain_id"]) == ("USDC", BASE)


def test_the_best_price_is_held_with_the_answer_if_that_is_wanted(shop: Shop) -> None:
    order_id = shop.create(order_price={"currency": "USDC", "amount": PRICE, "decimals": 6})
    path = f"/payment/{order_id}/options"
    assert "quote" not in shop.client.post(path, json={}).get_json()
    found = shop.client.post(path, json={"holdsBest": True}).get_json()
    best, held = found["options"][0], found["quote"]
    assert (held["chain_id"], held["symbol"], held["pay_text"]) == (8453, "USDC", best["pay_text"])
    alone = shop.client.post(f"/payment/{order_id}/quote", json={"chainId": 8453, "token": best["address"]}).get_json()
    assert held.keys() == alone.keys()
    assert held["quote_id"] != alone["quote_id"]
    paid = shop.client.post(f"/payment/{order_id}/pay", json={"quote_id": held["quote_id"]})
    assert paid.status_code == 200


def test_no_price_is_held_that_the_wallet_can_not_pay(open_till: Callable[..., Till]) -> None:
    till = open_till(FakeChain(fails=True))
    assert till.ask(till.order(), holdsBest=True)["quote"] is None


def test_a_closed_order_holds_no_price(shop: Shop) -> None:
    order_id = shop.create()
    shop.client.post(f"/payment/{order_id}/simulate", json={"action": "expire"})
    found = shop.client.post(f"/payment/{order_id}/options", json={"holdsBest": True}).get_json()
    assert found == {"note": "", "options": [], "unread": [], "quote": None}


def test_the_answer_says_why_no_price_is_held_for_an_order_that_was_closed_meanwhile(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    order_id = shop.create()

    def expire_afterwards(*asked: Any) -> PaymentOptions:
        found = list_options(*asked)
        shop.client.post(f"/payment/{order_id}/simulate", json={"action": "expire"})
        return found

    monkeypatch.setattr("api.blueprints.payment_page.list_options", expire_afterwards)
    answer = shop.client.post(f"/payment/{order_id}/options", json={"holdsBest": True})
    assert answer.status_code == 200
    refused = answer.get_json()["quote"]["refused"]
    assert refused["reason"] == "order_not_waiting_for_payment"
    assert refused["message"] == "The order takes no payment now: it is expired"


@pytest.mark.parametrize("amount", [1, 100_000, 500_000, 1_000_000, 25_000_000])
def test_who_saves_less_than_is_shown_pays_without_conversion(shop: Shop, amount: int) -> None:
    """Found: 12 seconds over a bridge, or 19 minutes, for a saving that no total showed."""
    order_id = shop.create(order_price={"currency": "USDC", "amount": amount, "decimals": 6})
    first = shop.client.post(f"/payment/{order_id}/options", json={}).get_json()["options"][0]
    assert (first["symbol"], first["chain_id"]) == ("USDC", BASE)
    assert re.search(r" · [\d]+ seconds$", first["price_text"])


def test_no_endpoint_and_no_metadata_is_told(open_till: Callable[..., Till]) -> None:
    till = open_till(FakeChain(fails=True))
    text = str(till.ask(till.order()))
    assert not [part for part in PUBLIC if part in text]


@pytest.mark.parametrize(
    "body",
    [
        {"account": "0x12"},
        {"account": ["0x" + "aa" * 20]},
        {"account": PAYER, "held": [{"chainId": 10, "token": PAYER, "amount": "-1"}]},
        {"account": PAYER, "held": [{"chainId": 10, "token": PAYER, "amount": 1.5}]},
        {"account": PAYER, "held": [{"chainId": 10, "token": PAYER, "amount": str(2**256)}]},
        {"account": PAYER, "held": [{"chainId": 10, "token": PAYER, "amount": "1"}] * 17},
        {"account": PAYER, "url": "http://evil.example"},
        {"holdsBest": 2},
        {"holdsBest": "true"},
    ],
)
def test_hostile_questions_are_refused(shop: Shop, body: dict[str, Any]) -> None:
    order_id = shop.create()
    assert shop.client.post(f"/payment/{order_id}/options", json=body).status_code == 400


def test_only_the_page_asks_and_not_too_often(make_app: Callable[..., Flask], shop: Shop) -> None:
    path = f"/payment/{shop.create()}/options"
    other = shop.client.post(path, json={}, headers={"Origin": "https://evil.example"})
    assert other.status_code == 403
    client = make_app(rate_limit_routing=10, rate_limit_page=50).test_client()
    assert [client.post(path, json={}).status_code for _ in range(3)] == [200, 200, 429]
    assert client.get(path.replace("options", "status")).status_code == 200
    paths = [f"/payment/{shop.create()}/options" for _ in range(9)]
    told = [client.post(each, json={}).status_code for each in paths]
    assert told.count(429) == 2, "all orders of an address together get a fifth of its requests"
    for costly in ("transactions", "claim"):
        assert client.post(path.replace("options", costly), json={}).status_code == 429
    assert client.get(path.replace("options", "claim")).status_code == 400, "it asks no chain"
