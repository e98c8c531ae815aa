"""The page's answers to its scripts: who may ask, what they learn, and how a payment runs through them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from api.checkout_page.language import strings
from api.checkout_page.paying.quotes import quote_json
from api.checkout_page.status.state import build_state
from api.domain.env import EnvMode
from api.services.checkout.money_seen import MoneySeen
from api.services.checkout.quotes import quote_order
from api.services.orders.creation import NewLink, create_link
from api.services.orders.views import load_public_order
from api.services.resources import Resources
from api.services.settlement.watching.watcher import watch
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference import token_registry
from tests.api.checkout_page.test_payment_page_money import transfer
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.shop import Shop

USDC = token_registry.token("USDC", 8453)
POSTS = ("options", "quote", "pay", "simulate", "transactions", "report", "claim")
SECRET = "cart-4711"


@pytest.fixture
def make_order(resources: Resources, merchant: Merchant) -> Callable[..., str]:
    """Make an order and return the path of its page."""

    def make(**changes: Any) -> str:
        link = {
            "line_items": ({"title": "Tea", "quantity": 2},),
            "order_price": {"currency": "USDC", "amount": 42_500_000, "decimals": 6},
            "env_mode": EnvMode.TEST,
            "success_callback_url": "https://shop.example/done",
            "cancel_callback_url": "https://shop.example/cart",
            "failure_callback_url": "https://shop.example/failed",
            "metadata": {"secret": SECRET},
        }
        return f"/payment/{create_link(resources, merchant.id, NewLink(**{**link, **changes}))['payment_order_id']}"

    return make


@pytest.fixture
def path(make_order: Callable[..., str]) -> str:
    """Path of the page of a new test order."""
    return make_order()


def quoted(client: FlaskClient, path: str) -> dict[str, Any]:
    response = client.post(f"{path}/quote", json={"chainId": 8453, "token": USDC.address})
    assert response.status_code == 200, response.get_json()
    return response.get_json()


@pytest.mark.rule("links.12")
def test_a_test_order_is_paid_with_its_quote(
    client: FlaskClient, resources: Resources, clock: SettableClock, path: str
) -> None:
    quote = quoted(client, path)
    assert quote["pay_amount"] == "42500000"
    assert quote["pay_text"] == "42.50 USDC"
    assert quote["valid_for_s"] == 60
    assert client.post(f"{path}/pay", json={"quote_id": quote["quote_id"]}).status_code == 200
    for seconds, status in ((1, "processing"), (10, "success")):
        clock.advance(seconds=seconds)
        watch(resources)
        assert client.get(f"{path}/status").get_json()["payment_order_status"] == status
    state = client.get(f"{path}/status").get_json()
    order_id = path.rpartition("/")[2]
    assert state["return_url"] == f"https://shop.example/done?payment_order_id={order_id}&status=success"
    assert [row["explorer_url"] for row in state["transactions"]] == [None]


def test_a_routed_quote_says_how_the_money_gets_there(client: FlaskClient, path: str) -> None:
    ether = token_registry.token("ETH", 42161)
    quote = client.post(f"{path}/quote", json={"chainId": 42161, "token": ether.address}).get_json()
    assert quote["receive_text"] == "42.50 USDC · Base"
    shown, exact, most = (Decimal(quote[name].split()[-2]) for name in ("pay_text", "exact_text", "most_text"))
    assert exact == Decimal(int(quote["pay_amount"])).scaleb(-18)
    assert exact <= shown < most
    assert quote["pay_text"].startswith("≈ ")
    assert int(quote["shown_amount"]) == shown.scaleb(18)
    assert len(shown.as_tuple().digits) <= 6
    assert re.fullmatch(r"≈ 42\.\d\d USDC in all, fees \d\.\d\d", quote["total_text"])
    assert re.fullmatch(r"(Exchanged for|Moved to) .* on the way\.", quote["route_text"])
    assert {row["note"] for row in quote["fees"]} == {"included", "on top"}
    assert quote["fees"][-1]["name"] == "Network fee"
    assert all(re.fullmatch(r"(≈|under) \d+\.\d\d USDC", row["text"]) for row in quote["fees"])


def test_a_transfer_says_what_the_network_takes(client: FlaskClient, path: str) -> None:
    quote = quoted(client, path)
    assert quote["total_text"] == "≈ 42.50 USDC in all, fees under 0.01"
    assert [row["name"] for row in quote["fees"]] == ["Network fee"]
    assert quote["route_text"].endswith("without conversion.")


def test_a_price_is_held_no_longer_than_its_order(client: FlaskClient, clock: SettableClock, path: str) -> None:
    """Found by a user: a price was held for 58 seconds of which the order had ten."""
    early = quoted(client, path)
    assert (early["valid_for_s"], early["ends_text"]) == (60, "")
    clock.advance(seconds=early["ends_in_s"] - 600)
    assert quoted(client, path)["ends_text"] == "Order ends in {time}"
    clock.advance(seconds=590)
    late = quoted(client, path)
    assert (late["valid_for_s"], late["ends_in_s"]) == (10, 10)


def test_what_a_wallet_asks_for_a_coin_is_said_before(resources: Resources, clock: SettableClock, path: str) -> None:
    """Found by a user: the page showed less than the wallet asked for."""
    order_id = path.rpartition("/")[2]
    order = replace(load_public_order(resources, order_id), is_simulated=False)
    quote = quote_order(resources, order_id, 8453, USDC.address)
    coin = replace(quote, token_address=NATIVE_ADDRESS, token_symbol="ETH", token_decimals=18)
    exact = quote_json(replace(coin, amount_in=10**16, amount_in_max=10**16), order, clock.now(), strings.load())
    assert exact["prompts_text"].startswith("Your wallet asks once to pay, and first to switch")
    most = quote_json(replace(coin, amount_in=10**16, amount_in_max=11 * 10**15), order, clock.now(), strings.load())
    assert most["prompts_text"].startswith("Your wallet asks once to pay up to 0.011 ETH, and")
    assert "comes back in the same transaction" in most["prompts_text"]


def test_what_cannot_be_valued_is_not_made_up(resources: Resources, clock: SettableClock, path: str) -> None:
    order_id = path.rpartition("/")[2]
    cost = {"name": "gas", "symbol": "ETH", "decimals": 18, "amount": "1234567", "value": None, "included": False}
    quote = replace(quote_order(resources, order_id, 8453, USDC.address), total=None, costs=(cost,))
    shown = quote_json(quote, load_public_order(resources, order_id), clock.now(), strings.load())
    assert shown["total_text"] == "The network fee comes on top."
    assert [row["text"] for row in shown["fees"]] == ["0.00000000000123457 ETH"]


def test_protocols_without_a_name_are_still_named(resources: Resources, clock: SettableClock, path: str) -> None:
    ether, dollar = token_registry.by_symbol("ETH"), token_registry.by_symbol("USDC")
    step = {"protocol": "brand_new_bridge", "fromChainId": 10, "toChainId": 8453, "fees": []}
    tokens = {"fromToken": {"symbol": ether.symbol}, "toToken": {"symbol": dollar.symbol}}
    order_id = path.rpartition("/")[2]
    quote = replace(quote_order(resources, order_id, 8453, USDC.address), steps=({**step, **tokens},))
    shown = quote_json(quote, load_public_order(resources, order_id), clock.now(), strings.load())
    assert shown["route_text"] == "Moved to Base with Brand new bridge on the way."


def test_the_answers_keep_to_themselves_what_the_customer_must_not_know(
    client: FlaskClient, merchant: Merchant, path: str
) -> None:
    quote = client.post(f"{path}/quote", json={"chainId": 8453, "token": USDC.address})
    asked_again = [client.get(path), client.get(f"{path}/tokens")]
    for response in (*asked_again, client.get(f"{path}/status"), quote):
        assert response.status_code == 200
        assert SECRET not in response.text
        assert merchant.id not in response.text
        assert "sk_" not in response.text
        assert "whsec" not in response.text
        kept = "private, no-cache" if response in asked_again else "no-store"
        assert response.headers["Cache-Control"] == kept


@pytest.mark.in_turns
@pytest.mark.parametrize("name", POSTS)
def test_another_site_changes_nothing(client: FlaskClient, path: str, name: str) -> None:
    body = {"chainId": 8453, "token": USDC.address, "quote_id": "qt_1", "action": "expire"}
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "https://pay.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ):
        assert client.post(f"{path}/{name}", json=body, headers=headers).status_code == 403
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        response = client.post(f"{path}/{name}", data=json.dumps(body), content_type=kind)
        assert response.status_code == 415
    assert client.get(f"{path}/status").get_json()["payment_order_status"] == "created"


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://pay.example"},
        {"Origin": "https://pay.example"},
        {"Origin": "http://localhost"},
        {},
    ],
)
def test_the_page_itself_may_ask(client: FlaskClient, path: str, headers: dict[str, str]) -> None:
    response = client.post(f"{path}/simulate", json={"action": "expire"}, headers=headers)
    assert response.get_json()["payment_order_status"] == "expired"


@pytest.mark.rule("links.13", "states.13")
def test_nobody_with_the_link_ends_the_order(client: FlaskClient, path: str) -> None:
    assert client.post(f"{path}/cancel", json={}).status_code == 404
    state = client.get(f"{path}/status").get_json()
    order_id = path.rpartition("/")[2]
    assert state["payment_order_status"] == "created"
    assert state["cancel_url"] == f"https://shop.example/cart?payment_order_id={order_id}&status=created"


@pytest.mark.rule("expiry.4")
def test_a_quote_holds_for_its_order_and_its_minute(
    client: FlaskClient, clock: SettableClock, make_order: Callable[..., str], assert_error: Callable[..., None]
) -> None:
    first, second = make_order(), make_order()
    quote_id = quoted(client, first)["quote_id"]
    assert_error(client.post(f"{second}/pay", json={"quote_id": quote_id}), 404)
    clock.advance(seconds=60)
    response = client.post(f"{first}/pay", json={"quote_id": quote_id})
    assert response.status_code == 409
    assert response.get_json()["reason"] == "quote_expired"
    assert client.get(f"{first}/status").get_json()["payment_order_status"] == "created"


def test_two_payments_are_not_taken(client: FlaskClient, path: str) -> None:
    quote_id = quoted(client, path)["quote_id"]
    answers = [client.post(f"{path}/pay", json={"quote_id": quote_id}).status_code for _ in range(2)]
    assert answers == [200, 409]


def test_a_live_order_takes_no_test_money(client: FlaskClient, shop: Shop, assert_error: Callable[..., None]) -> None:
    path = f"/payment/{shop.create_live()}"
    assert_error(client.post(f"{path}/simulate", json={"action": "underpay"}), 409)
    assert client.post(f"{path}/quote", json={"chainId": 8453, "token": USDC.address}).status_code == 409
    assert client.get(f"{path}/tokens").get_json() == {"chains": []}
    state = client.get(f"{path}/status").get_json()
    assert (state["panel"], state["tone"], state["test_actions"]) == ("outcome", "notice", [])


@pytest.mark.in_turns
@pytest.mark.parametrize(
    ("name", "body", "problems"),
    [
        ("quote", {}, {"chainId": "Required", "token": "Required"}),
        ("quote", {"chainId": "x", "token": 5}, None),
        ("quote", {"chainId": 2**80, "token": USDC.address}, None),
        ("quote", {"chainId": 8453, "token": "0x12"}, None),
        ("pay", {}, {"quote_id": "Required"}),
        ("pay", {"quote_id": "\x00"}, None),
        ("pay", {"quote_id": ["qt_1"]}, None),
        ("simulate", {}, {"action": "Required"}),
        ("simulate", {"action": "rob"}, None),
        ("report", [], None),
        ("report", {"chainId": 8453, "hash": "0x12"}, None),
        ("claim", {}, dict.fromkeys(("chainId", "hash", "logIndex", "account", "signature"), "Required")),
    ],
)
def test_bad_bodies_are_refused_by_name(
    client: FlaskClient,
    path: str,
    name: str,
    body: Any,
    problems: dict[str, str] | None,
    assert_error: Callable[..., None],
) -> None:
    assert_error(client.post(f"{path}/{name}", json=body), 400, problems)


def test_tokens_and_chains_are_told_with_their_icons(client: FlaskClient, path: str) -> None:
    base = client.get(f"{path}/tokens").get_json()["chains"][0]
    assert (base["icon"], base["letter"]) == ("chain-8453", "B")
    icons = {token["symbol"]: token["icon"] for token in base["tokens"]}
    assert {symbol: icons[symbol] for symbol in ("USDC", "ETH", "cbBTC")} == {"USDC": "usdc", "ETH": "eth", "cbBTC": ""}
    assert quoted(client, path)["icon"] == "usdc"


@pytest.mark.parametrize("name", ["status", "tokens"])
def test_an_unknown_order_is_not_found_by_scripts(
    client: FlaskClient, name: str, assert_error: Callable[..., None]
) -> None:
    assert_error(client.get(f"/payment/po_unknown/{name}"), 404)


@pytest.mark.parametrize("order_id", ["po_unknown", "%00", "%F0%9F%A6%84", "x" * 5000])
def test_an_unknown_order_gets_a_page(client: FlaskClient, order_id: str) -> None:
    response = client.get(f"/payment/{order_id}")
    assert (response.status_code, response.mimetype) == (404, "text/html")
    assert "find this payment" in response.text
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize("place", ["/payment/", "/payment", "/PAYMENT/PO_01KJ", "/Payment/po_01/x", "/payment/po_01/"])
def test_a_link_that_was_written_wrong_gets_a_page_in_a_browser(client: FlaskClient, place: str) -> None:
    page = client.get(place, headers={"Accept": "text/html,*/*;q=0.8", "Accept-Language": "de"})
    assert (page.status_code, page.mimetype) == (404, "text/html")
    assert "Wir finden diese Zahlung nicht" in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert client.get(place).mimetype == "application/json"


def test_transactions_of_real_chains_lead_to_their_explorer(resources: Resources, path: str) -> None:
    seen = MoneySeen(transfers=(transfer(chain_id=10),), looked_at=None, chain_ids=(10,))
    order = replace(load_public_order(resources, path.rpartition("/")[2]), env_mode=EnvMode.LIVE, is_simulated=False)
    (shown,) = build_state(order, seen, resources.clock.now(), strings.load()).transactions
    assert shown["chain"] == "Optimism"
    assert shown["explorer_url"] == f"https://optimistic.etherscan.io/tx/0x{'ab' * 32}"


def test_what_a_person_asked_for_is_answered_for_a_person(make_app: Callable[..., Flask], path: str) -> None:
    client = make_app(rate_limit_page=10).test_client()
    assert [client.get(path).status_code for _ in range(2)] == [200, 200]
    page, script = client.get(path), client.get(f"{path}/status")
    assert (page.status_code, page.mimetype) == (429, "text/html")
    assert "Wait a minute and load the page again, before you pay or pay again." in page.text
    assert int(page.headers["Retry-After"]) > 0
    assert (script.status_code, script.mimetype) == (429, "application/json")


def test_each_order_is_counted_by_itself_and_all_of_an_address_together(
    make_app: Callable[..., Flask], make_order: Callable[..., str]
) -> None:
    client = make_app(rate_limit_page=5).test_client()
    statuses = [client.get(f"{make_order()}/status").status_code for _ in range(6)]
    assert statuses == [200, 200, 200, 200, 200, 429]


def test_pictures_come_from_here_or_over_https_in_both_modes(client: FlaskClient, shop: Shop, path: str) -> None:
    for page in (path, f"/payment/{shop.create_live()}"):
        assert "img-src 'self' data: https:;" in client.get(page).headers["Content-Security-Policy"]
