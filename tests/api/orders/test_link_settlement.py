"""In which token, on which chain and to which account the order of a link is settled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import delete

from api.context import attach_resources
from api.domain.env import EnvMode
from api.domain.money import UINT256_MAX
from api.services.resources import Resources
from api.services.vendors.vendors import Account, set_account
from api.storage.tables import SettlementAccount
from routing_engine.reference import token_registry
from tests.api.conftest import START, Merchant
from tests.support.links import LIVE, PATH, price
from tests.support.shop import LINK, Shop, connected


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
