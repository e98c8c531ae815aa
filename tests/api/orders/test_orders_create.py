"""Creating payment links: what is accepted, what is refused and in which words."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, func, select

from api.context import attach_resources
from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.money import UINT256_MAX
from api.services.resources import Resources
from api.services.vendors.vendors import Account, set_account
from api.storage.tables import PaymentOrder, SettlementAccount, WebhookEvent
from routing_engine.reference import token_registry
from tests.api.conftest import START, Merchant
from tests.support.shop import LINK, Shop, connected

PATH = "/api/v1/payment_link"


def price(**changes: object) -> dict[str, Any]:
    return {**LINK["order_price"], **changes}


def with_item(**changes: object) -> dict[str, Any]:
    return {**LINK, "line_items": [{"title": "Tea", "quantity": 1, **changes}]}


@pytest.mark.rule("service.1", "links.1", "links.2", "money.3")
def test_the_answer_is_the_interfaces(shop: Shop) -> None:
    response = shop.post(PATH, LINK)
    assert response.status_code == 200
    order_id = response.get_json()["payment_order_id"]
    assert response.get_json() == {
        "payment_order_id": order_id,
        "payment_url": f"https://pay.example/payment/{order_id}",
        "expires_at": "2026-03-02T12:00:00.000Z",
        "order_price": {**LINK["order_price"], "amount_string": str(10**18)},
    }
    assert order_id.startswith("po_")


@pytest.mark.rule("links.3", "errors.2", "errors.3", "errors.4", "errors.5")
def test_missing_properties_to_the_letter(shop: Shop) -> None:
    response = shop.post(PATH, {})
    assert response.status_code == 400
    assert response.get_data(as_text=True).strip() == (
        '{"message": "Invalid request data", "code": "400", "error": ['
        '{"path": "line_items", "message": "Required"}, '
        '{"path": "order_price", "message": "Required"}, '
        '{"path": "env_mode", "message": "Required"}, '
        '{"path": "success_callback_url", "message": "Required"}, '
        '{"path": "cancel_callback_url", "message": "Required"}, '
        '{"path": "failure_callback_url", "message": "Required"}]}'
    )


@pytest.mark.rule("links.8", "links.10", "errors.6")
def test_missing_nested_properties_are_dotted_paths(shop: Shop, assert_error: Callable[..., None]) -> None:
    body = {**LINK, "line_items": [{"title": "Tea"}, {"quantity": 1}], "order_price": {}}
    expected = dict.fromkeys(
        [
            "line_items.0.quantity",
            "line_items.1.title",
            "order_price.currency",
            "order_price.amount",
            "order_price.decimals",
        ],
        "Required",
    )
    response = shop.post(PATH, body)
    assert_error(response, 400, expected)
    assert [row["path"] for row in response.get_json()["error"]] == list(expected)


@pytest.mark.in_turns
@pytest.mark.rule(
    "links.6",
    "links.11",
    "links.15",
    "links.16",
    "links.17",
    "links.18",
    "links.20",
    "links.21",
    "money.10",
    "money.13",
    "input.2",
    "input.9",
)
@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ({**LINK, "line_items": []}, "line_items", "Must have 1 to 100 items"),
        ({**LINK, "line_items": [LINK["line_items"][0]] * 101}, "line_items", "Must have 1 to 100 items"),
        ({**LINK, "line_items": {}}, "line_items", "Expected array, received object"),
        ({**LINK, "line_items": ["Tea"]}, "line_items.0", "Expected object, received string"),
        (with_item(title=""), "line_items.0.title", "Must have 1 to 200 characters"),
        (with_item(title="x" * 201), "line_items.0.title", "Must have 1 to 200 characters"),
        (with_item(title="\x00"), "line_items.0.title", "Text must not contain NUL or a lone surrogate"),
        (with_item(description="x" * 801), "line_items.0.description", "Must have 0 to 800 characters"),
        (with_item(quantity=0), "line_items.0.quantity", "Must be 1 to 1000000"),
        (with_item(quantity=1_000_001), "line_items.0.quantity", "Must be 1 to 1000000"),
        (with_item(quantity=True), "line_items.0.quantity", "Expected integer, received boolean"),
        (with_item(quantity="1"), "line_items.0.quantity", "Expected integer, received string"),
        (
            with_item(image_url="javascript:alert(1)"),
            "line_items.0.image_url",
            "Expected a URL that starts with https:// or http:// and names a host",
        ),
        (
            {**LINK, "order_price": price(amount=0)},
            "order_price.amount",
            "Must be 1 to 2^256-1; an order that costs nothing needs no payment link",
        ),
        ({**LINK, "order_price": price(amount=-1)}, "order_price.amount", "Must be 1 to 2^256-1"),
        ({**LINK, "order_price": price(amount=UINT256_MAX + 1)}, "order_price.amount", "Must be 1 to 2^256-1"),
        (
            {**LINK, "order_price": price(amount="1e18")},
            "order_price.amount",
            "Expected at most 78 digits 0-9 and nothing else",
        ),
        (
            {**LINK, "order_price": price(amount="٣")},
            "order_price.amount",
            "Expected at most 78 digits 0-9 and nothing else",
        ),
        (
            {**LINK, "order_price": price(amount=1.5)},
            "order_price.amount",
            "Expected integer or digit string, received number; a price of 1.5 is written as "
            '"amount": 1500000000000000000, "decimals": 18',
        ),
        (
            {**LINK, "order_price": price(amount="25.50")},
            "order_price.amount",
            "Expected at most 78 digits 0-9 and nothing else; a price of 25.50 is written as "
            '"amount": 25500000000000000000, "decimals": 18',
        ),
        (
            {**LINK, "order_price": price(amount="25.505", decimals=2)},
            "order_price.amount",
            "Expected at most 78 digits 0-9 and nothing else; a price of 25.505 is written as "
            '"amount": 25505, "decimals": 3',
        ),
        (
            {**LINK, "order_price": price(amount=19.99 * 100, decimals=2)},
            "order_price.amount",
            'Expected integer or digit string, received number; round it: "amount": 1999',
        ),
        ({**LINK, "order_price": price(decimals=37)}, "order_price.decimals", "Must be 0 to 36"),
        ({**LINK, "order_price": price(decimals=-1)}, "order_price.decimals", "Must be 0 to 36"),
        ({**LINK, "env_mode": "prod"}, "env_mode", "Expected 'test' or 'live'"),
        (
            {**LINK, "cancel_callback_url": "https://user:pw@shop.example"},
            "cancel_callback_url",
            "A URL must not contain a user name or password",
        ),
        ({**LINK, "metadata": [1]}, "metadata", "Expected object, received array"),
        (
            {**LINK, "metadata": {str(number): 1 for number in range(51)}},
            "metadata",
            "Must have at most 50 keys",
        ),
        ({**LINK, "metadata": {"x": "y" * 16_384}}, "metadata", "Must be at most 16384 bytes of JSON"),
        (
            {**LINK, "expires_at": "tomorrow"},
            "expires_at",
            "Expected a moment in ISO 8601 with a time zone, written as YYYY-MM-DDThh:mm:ssZ",
        ),
        (
            {**LINK, "expires_at": "2026-03-01T18:00:00"},
            "expires_at",
            "Expected a moment in ISO 8601 with a time zone, written as YYYY-MM-DDThh:mm:ssZ",
        ),
        ({**LINK, "expires_at": 7}, "expires_at", "Expected string, received number"),
    ],
)
def test_bad_input_is_named(
    shop: Shop, assert_error: Callable[..., None], body: dict[str, Any], path: str, message: str
) -> None:
    assert_error(shop.post(PATH, body), 400, {path: message})
    with shop.resources.database.read() as session:
        assert session.scalar(select(func.count()).select_from(PaymentOrder)) == 0


@pytest.mark.in_turns
@pytest.mark.rule("orders.3", "money.9", "money.10", "money.11", "money.12")
@pytest.mark.parametrize("amount", [1, 10**18, UINT256_MAX])
@pytest.mark.parametrize("kind", [int, str])
def test_an_amount_is_an_integer_or_a_digit_string(shop: Shop, amount: int, kind: type) -> None:
    order = shop.order(shop.create(order_price=price(amount=kind(amount))))
    assert order["order_price"] == {
        "currency": "USDC",
        "amount": amount,
        "decimals": 18,
        "amount_string": str(amount),
    }


@pytest.mark.rule("links.23", "money.14", "money.15", "money.16")
@pytest.mark.parametrize(
    ("given", "due", "rounded"),
    [
        ({"amount": 10**18, "decimals": 18}, 10**6, False),
        ({"amount": 10**18 + 1, "decimals": 18}, 10**6 + 1, True),
        ({"amount": 1, "decimals": 36}, 1, True),
        ({"amount": 3, "decimals": 0}, 3 * 10**6, False),
        ({"amount": 5, "decimals": 0, "currency": "eth"}, 5 * 10**18, False),
        ({"amount": 2500, "decimals": 2, "currency": "EURC"}, 25 * 10**6, False),
    ],
)
def test_the_price_in_the_settlement_tokens_units(shop: Shop, given: dict[str, Any], due: int, rounded: bool) -> None:
    order = shop.order(shop.create(order_price={"currency": "USDC", **given}))
    assert order["amount_due"] == order["settlement"]["amount"] == str(due)
    assert order["settlement"]["rounded_up"] is rounded
    assert order["order_price"]["currency"] == given.get("currency", "usdc").upper()


def test_a_price_beyond_the_token_is_refused(shop: Shop, assert_error: Callable[..., None]) -> None:
    response = shop.post(PATH, {**LINK, "order_price": price(amount=UINT256_MAX, decimals=0)})
    assert_error(response, 400, {"order_price.amount": "Is more than a token can hold: USDC has 6 decimals on chain"})


@pytest.mark.rule("links.24")
def test_dollars_are_settled_in_the_vendors_stablecoin(shop: Shop, merchant: Merchant) -> None:
    assert shop.order(shop.create(order_price=price(currency="usd")))["settlement"]["token_symbol"] == "USDC"
    with shop.resources.database.write() as session:
        session.execute(delete(SettlementAccount).where(SettlementAccount.currency == "USDC"))
    assert shop.order(shop.create(order_price=price(currency="USD")))["settlement"]["token_symbol"] == "USDT"


@pytest.mark.rule("links.22")
def test_an_unknown_currency_is_refused(shop: Shop, assert_error: Callable[..., None]) -> None:
    response = shop.post(PATH, {**LINK, "order_price": price(currency="XYZ")})
    assert_error(response, 400)
    (problem,) = response.get_json()["error"]
    assert problem["path"] == "order_price.currency"
    assert "'XYZ'" in problem["message"]
    assert "USDC" in problem["message"]


@pytest.mark.parametrize("given", ["EUR", "eur", "€"])
def test_who_prices_in_euros_is_told_of_their_token(shop: Shop, given: str) -> None:
    (problem,) = shop.post(PATH, {**LINK, "order_price": price(currency=given)}).get_json()["error"]
    assert problem["message"].startswith(f"Unknown currency {given!r} (euros are priced in EURC); use one of USD, ")


LIVE = {**LINK, "env_mode": "live"} | {
    name: "https://shop.example/back" for name in LINK if name.endswith("_callback_url")
}
REMEDY = "the operator adds one with `checkout settlement set`"


def account(currency: str, chain_id: int, address: str = "0x" + "12" * 20) -> Account:
    token = token_registry.token(currency, chain_id)
    return Account(
        currency=currency,
        chain_id=chain_id,
        token_address=token.address,
        token_decimals=token.decimals,
        address=address,
    )


@pytest.fixture
def receive(resources: Resources, merchant: Merchant) -> Callable[..., None]:
    """Set accounts of the merchant."""

    def set_all(env_mode: EnvMode, *accounts: Account) -> None:
        with resources.database.write() as session:
            for each in accounts:
                set_account(session, merchant.id, env_mode, each, START)

    return set_all


@pytest.mark.rule("links.22")
def test_a_link_of_a_vendor_without_accounts_is_refused(shop: Shop, assert_error: Callable[..., None]) -> None:
    message = f"There is no settlement account for USDC in the live environment; {REMEDY}"
    for shared in (shop.resources, connected(shop.resources)):
        attach_resources(shop.client.application, shared)
        assert_error(shop.post(PATH, LIVE, env_mode="live"), 400, {"order_price.currency": message})
    assert shop.get("/api/v1/payment", env_mode="live").get_json()["data"] == []


@pytest.mark.rule("links.22")
def test_a_vendor_without_this_account_is_told_which_there_are(
    shop: Shop, receive: Callable[..., None], assert_error: Callable[..., None]
) -> None:
    receive(EnvMode.LIVE, account("USDC", 8453))
    response = shop.post(PATH, {**LIVE, "order_price": price(currency="ETH")}, env_mode="live")
    message = f"There is no settlement account for ETH in the live environment; there is USDC; {REMEDY}"
    assert_error(response, 400, {"order_price.currency": message})


def test_a_link_on_a_chain_that_is_not_connected_is_refused(
    shop: Shop, receive: Callable[..., None], assert_error: Callable[..., None]
) -> None:
    receive(EnvMode.LIVE, account("USDC", 8453))
    for shared in (shop.resources, connected(shop.resources, EnvMode.LIVE, 1, 10)):
        attach_resources(shop.client.application, shared)
        response = shop.post(PATH, LIVE, env_mode="live")
        assert_error(response, 409)
        (problem,) = response.get_json()["error"]
        assert problem["path"] == "order_price.currency"
        assert all(words in problem["message"] for words in ("chain 8453", "RPC_URLS", "checkout settlement set"))
    attach_resources(shop.client.application, connected(shop.resources, EnvMode.LIVE, 1, 8453))
    order = shop.order(shop.create(**LIVE), env_mode="live")
    assert (order["payable"], order["amount_due"]) == (True, "1000000")


@pytest.mark.rule("links.24")
def test_dollars_are_settled_where_they_can_be_paid(shop: Shop, receive: Callable[..., None]) -> None:
    receive(EnvMode.LIVE, account("USDC", 8453), account("USDT", 1))
    attach_resources(shop.client.application, connected(shop.resources, EnvMode.LIVE, 1))
    order_id = shop.create(**{**LIVE, "order_price": price(currency="USD")})
    assert shop.order(order_id, env_mode="live")["settlement"]["token_symbol"] == "USDT"


def test_on_real_test_chains_nobody_receives_at_a_made_up_address(
    shop: Shop, receive: Callable[..., None], assert_error: Callable[..., None]
) -> None:
    assert shop.create()  # on the simulated ledger it is as good as any
    attach_resources(shop.client.application, connected(shop.resources, EnvMode.TEST))
    message = f"There is no settlement account for USDC in the test environment; {REMEDY}"
    assert_error(shop.post(PATH, LINK), 400, {"order_price.currency": message})
    receive(EnvMode.TEST, account("USDC", 8453))
    assert shop.order(shop.create())["payable"]


def test_a_link_keeps_its_order_when_its_chain_is_disconnected(shop: Shop) -> None:
    order = shop.order(shop.create_live(), env_mode="live")
    assert (order["payable"], order["not_payable_reason"]) == (False, "chain_not_connected")
    assert order["amount_due"] == "1000000"


@pytest.mark.rule("input.10")
def test_plain_http_is_for_test_links(shop: Shop, assert_error: Callable[..., None]) -> None:
    response = shop.post(PATH, {**LINK, "env_mode": "live"}, env_mode="live")
    message = "Plain http is for env_mode test only; use https"
    names = ["success_callback_url", "cancel_callback_url", "failure_callback_url"]
    assert_error(response, 400, dict.fromkeys(names, message))


@pytest.mark.rule("keys.11", "keys.16")
@pytest.mark.parametrize(("key_env", "link"), [("test", LIVE), ("live", LINK)])
def test_a_key_makes_links_of_its_own_environment(
    shop: Shop, assert_error: Callable[..., None], key_env: str, link: dict[str, Any]
) -> None:
    response = shop.post(PATH, link, env_mode=key_env)
    other = link["env_mode"]
    assert_error(response, 403, {"env_mode": f"This is a {key_env} key; use the vendor's {other} key"})


@pytest.mark.rule("links.7", "keys.3")
def test_a_link_needs_a_key(shop: Shop, assert_error: Callable[..., None]) -> None:
    assert_error(shop.client.post(PATH, json={}), 401, {"X-Api-Key": "Required"})
    response = shop.client.post(
        PATH, json={}, headers={"Authorization": f"Bearer {shop.merchant.headers()['X-Api-Key']}"}
    )
    hint = "Is not read here; send the key alone as X-Api-Key"
    assert_error(response, 401, {"X-Api-Key": "Required", "Authorization": hint})
    assert shop.merchant.headers()["X-Api-Key"] not in response.text


@pytest.mark.rule("expiry.1", "expiry.2")
def test_expiry_is_a_day_or_what_was_asked_for(shop: Shop) -> None:
    assert shop.order(shop.create())["expires_at"] == format_time(START + timedelta(hours=24))
    assert shop.order(shop.create(expires_at="2026-03-01T14:30:00+02:00"))["expires_at"] == "2026-03-01T12:30:00.000Z"
    assert shop.order(shop.create(expires_at="2026-03-31T12:00:00Z"))["expires_at"] == "2026-03-31T12:00:00.000Z"


@pytest.mark.rule("expiry.2")
@pytest.mark.parametrize("asked", ["2026-03-01T12:29:59Z", "2026-03-31T12:00:01Z", "0001-01-01T00:00:00+14:00"])
def test_expiry_has_bounds(shop: Shop, assert_error: Callable[..., None], asked: str) -> None:
    response = shop.post(PATH, {**LINK, "expires_at": asked})
    assert_error(response, 400)
    assert response.get_json()["error"][0]["path"] == "expires_at"


@pytest.mark.rule("service.3", "links.5", "links.9", "orders.1", "orders.2", "orders.4")
def test_everything_of_the_link_comes_back(shop: Shop) -> None:
    items = [
        {"title": "Tee ☕", "quantity": 2, "description": "", "image_url": "https://img.example/t.png"},
        {"title": "<script>", "quantity": 1_000_000},
    ]
    metadata = {"nested": {"list": [1, 2.5, None, True]}, "text": "日本"}
    order = shop.order(shop.create(line_items=items, metadata=metadata))
    assert order["line_items"] == items
    assert order["metadata"] == metadata
    assert {name: order[name] for name in LINK if name.endswith("_url")} == {
        name: value for name, value in LINK.items() if name.endswith("_url")
    }
    assert (order["payment_order_status"], order["env_mode"], order["transaction_hash"]) == ("created", "test", "")


@pytest.mark.rule("links.4")
def test_without_metadata_it_is_empty(shop: Shop) -> None:
    response = shop.post(PATH, {name: value for name, value in LINK.items() if name != "metadata"})
    assert shop.order(response.get_json()["payment_order_id"])["metadata"] == {}


@pytest.mark.rule("service.6", "events.2", "events.4", "events.5", "events.6", "events.7", "events.11", "events.18")
def test_creation_is_an_event(shop: Shop) -> None:
    order_id = shop.create()
    (event,) = shop.events(order_id)
    assert event == {
        "resource": "event",
        "type": "payment_processing",
        "created_at": "2026-03-01T12:00:00.000Z",
        "env_mode": "test",
        "data": {
            "payment_order_id": order_id,
            "metadata": {"cart": "7"},
            "transaction_hash": "",
            "payment_order_status": "created",
            "status_reason": "",
            "order_price": {**LINK["order_price"], "amount_string": str(10**18)},
            "amount_received": "0",
            "amount_due": "1000000",
            "transactions": [],
        },
    }


def test_a_refused_link_leaves_nothing(shop: Shop) -> None:
    shop.post(PATH, {**LINK, "order_price": price(currency="XYZ")})
    with shop.resources.database.read() as session:
        assert session.scalar(select(func.count()).select_from(WebhookEvent)) == 0


@pytest.mark.rule("links.15", "links.16", "links.17", "links.18", "links.19", "links.20", "links.21", "money.13")
@pytest.mark.parametrize("quantity", [1, 1_000_000])
@pytest.mark.parametrize("decimals", [0, 36])
def test_everything_at_its_bounds_is_taken(shop: Shop, quantity: int, decimals: int) -> None:
    long = {"title": "x" * 200, "description": "y" * 800, "quantity": quantity}
    start, room = "https://img.example/", 16_384
    metadata: dict[str, str] = {f"{number:02}": "" for number in range(50)}
    metadata["00"] = "z" * (room - len(json.dumps(metadata, separators=(",", ":"))))
    made = shop.create(
        line_items=[{**long, "image_url": start + "i" * (2048 - len(start))}, *[{"title": "t", "quantity": 1}] * 99],
        order_price=price(decimals=decimals),
        success_callback_url=start + "s" * (2048 - len(start)),
        metadata=metadata,
    )
    order = shop.order(made)
    assert len(order["line_items"]) == 100
    assert order["metadata"] == metadata
    assert (len(order["success_callback_url"]), len(order["line_items"][0]["image_url"])) == (2048, 2048)
    one_more = shop.post(PATH, {**LINK, "metadata": {**metadata, "00": metadata["00"] + "z"}})
    assert [row["path"] for row in one_more.get_json()["error"]] == ["metadata"]
