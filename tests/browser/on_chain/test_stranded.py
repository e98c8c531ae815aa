"""A payment that a bridge took and did not deliver: the page says where it is, and when it is back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta

import pytest
from eth_utils.address import to_checksum_address
from playwright.sync_api import expect

from api.domain.env import EnvMode
from routing_engine import Snapshot
from routing_engine.markets import NativeWrap
from routing_engine.reference.chains import CHAINS
from tests.browser.chain_shop import open_chain_shop
from tests.browser.conftest import Tab
from tests.browser.customer import come_back
from tests.browser.shop import Shop
from tests.support.across import LIFE_S, Crossing, give_back
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import ChainShop, somebody

BASE, ETHEREUM = 8453, 1
MERCHANT = somebody("merchant whose money strands")
UNTIL_SEARCHED = 8
"""Looks until what became final was searched once more."""
PRICE = {"currency": "USDC", "amount": 1, "decimals": 0}
NO_ROUTES = Snapshot((NativeWrap.of(CHAINS[BASE]),))


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base, running_main_net(ETHEREUM) as ethereum:
        yield {BASE: base, ETHEREUM: ethereum}


@pytest.fixture(scope="module")
def shop(nets: Mapping[int, MainNet], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The service, whose orders are paid on those chains."""
    with open_chain_shop(tmp_path_factory.mktemp("stranded-shop"), nets, NO_ROUTES) as shop:
        yield shop


def test_stranded_money_is_found_on_the_page_until_it_is_back(tab: Tab, nets: Mapping[int, MainNet]) -> None:
    order_id = tab.shop.real_order(EnvMode.TEST, address=MERCHANT, order_price=PRICE)
    chains = ChainShop(shop=tab.shop, nets=nets, address=MERCHANT)
    crossing = Crossing(chains, tab.shop.state(order_id).payment_reference)
    page = tab.visit(order_id)
    chains.look()
    come_back(page)
    expect(page.get_by_role("heading", name="Payment on its way")).to_be_visible()
    expect(page.locator("#stranded")).to_be_hidden()
    chains.pass_time(LIFE_S + timedelta(minutes=31).total_seconds(), 70)
    chains.look(UNTIL_SEARCHED)
    come_back(page)
    expect(page.get_by_role("heading", name="Your payment did not arrive")).to_be_focused()
    where = page.locator("#stranded")
    expect(where.get_by_role("heading", name="1.001 USDC with Across on Ethereum")).to_be_visible()
    expect(where).to_contain_text("It comes back by itself")
    expect(where).to_contain_text(to_checksum_address(crossing.customer.address))
    expect(page.locator(".transaction")).to_contain_text(crossing.tx_hash)
    expect(page.locator("#redirecting")).to_be_hidden()
    tab.inspect("stranded")
    page.reload()
    expect(where.get_by_role("heading", name="1.001 USDC with Across on Ethereum")).to_be_visible()
    refund = give_back(chains, crossing)
    chains.look()
    come_back(page)
    expect(page.get_by_role("heading", name="The bridge returned your payment")).to_be_visible()
    expect(where.get_by_role("heading", name="1.001 USDC back on Ethereum")).to_be_visible()
    expect(page.locator(".transaction").last).to_contain_text(refund)
    tab.inspect("stranded-back")


def test_stranded_money_is_found_on_a_small_screen_in_the_dark_and_without_scripts(
    make_tab: Callable[..., Tab], nets: Mapping[int, MainNet]
) -> None:
    tab = make_tab(viewport={"width": 320, "height": 640}, color_scheme="dark")
    order_id = tab.shop.real_order(EnvMode.TEST, address=MERCHANT, order_price=PRICE)
    chains = ChainShop(shop=tab.shop, nets=nets, address=MERCHANT)
    Crossing(chains, tab.shop.state(order_id).payment_reference)
    chains.look()
    chains.pass_time(LIFE_S + timedelta(minutes=31).total_seconds(), 70)
    chains.look(UNTIL_SEARCHED)
    tab.visit(order_id)
    tab.inspect("stranded-small-dark")
    page = make_tab(java_script_enabled=False).visit(order_id)
    expect(page.get_by_role("heading", name="Where the money is")).to_be_visible()
    expect(page.get_by_role("heading", name="1.001 USDC with Across on Ethereum")).to_be_visible()
