"""What is paid from a wallet: nobody knows what to show before the wallet has answered, and little moves for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from api.checkout_page.language.strings import load
from api.domain.env import EnvMode
from tests.browser.chain_shop import ADDRESSES, PRICE
from tests.browser.conftest import DESKTOP, Tab
from tests.browser.gallery.looks import PHONE, SMALL
from tests.browser.shifts import SlowVisit
from tests.browser.wallet import TestWallet
from tests.support.main_net import MainNet

SCREENS: dict[str, dict[str, Any]] = {"desktop": {"viewport": DESKTOP}, "phone": PHONE, "small": SMALL}
by_screen_and_language = pytest.mark.parametrize(
    ("screen", "language"), [(screen, language) for screen in SCREENS for language in ("en", "de", "ar")]
)


def visit_slowly(tab: Tab) -> SlowVisit:
    """Visit a new order whose answers come late."""
    order_id = tab.shop.real_order(EnvMode.TEST, address=f"0x{next(ADDRESSES):040x}")
    return SlowVisit(tab.page, tab.shop.url(order_id))


@by_screen_and_language
def test_without_a_wallet_the_list_comes_below_what_is_seen(
    make_tab: Callable[..., Tab], screen: str, language: str
) -> None:
    tab = make_tab(**SCREENS[screen], locale=language)
    visit = visit_slowly(tab)
    visit.bring("main-")
    expect(tab.page.locator("#no-wallet")).to_be_visible()
    visit.bring("options")
    visit.bring("tokens")
    expect(tab.page.locator("#choose-title")).to_be_visible()
    visit.expect_little_movement()


@by_screen_and_language
def test_a_wallet_that_is_not_connected_finds_its_button(
    make_tab: Callable[..., Tab], wallet: TestWallet, screen: str, language: str
) -> None:
    tab = make_tab(**SCREENS[screen], locale=language)
    wallet.inject(tab.page, "Rabby")
    visit = visit_slowly(tab)
    for name in ("main-", "options", "tokens"):
        visit.bring(name)
    expect(tab.page.locator("#connect-button")).to_be_visible()
    expect(tab.page.get_by_role("link", name=load(language).page["skip_list"])).not_to_be_in_viewport()
    visit.expect_little_movement()


@by_screen_and_language
def test_a_wallet_that_is_connected_finds_the_price(
    make_tab: Callable[..., Tab], net: MainNet, wallet: TestWallet, screen: str, language: str
) -> None:
    net.fund(wallet.account, "USDC", PRICE)
    wallet.is_connected = True
    tab = make_tab(**SCREENS[screen], locale=language)
    wallet.inject(tab.page, "Rabby")
    visit = visit_slowly(tab)
    for name in ("main-", "options"):
        visit.bring(name)
    expect(tab.page.locator("#pay-button")).to_be_visible()
    visit.expect_little_movement()
