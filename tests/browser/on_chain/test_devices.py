"""Where this browser has no wallet: links into wallets' browsers, the code, the copied address, following along."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from api.domain.env import EnvMode
from tests.browser.chain_shop import (
    ADDRESSES,
    choose,
    choose_again,
    pay_button,
)
from tests.browser.conftest import Tab
from tests.browser.qr import read_code
from tests.browser.wallet import INJECTED, TestWallet
from tests.support.main_net import MainNet

IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1"
PHONE = {"viewport": {"width": 390, "height": 1400}, "is_mobile": True, "has_touch": True, "user_agent": IPHONE}
SMALL_PHONE = {**PHONE, "viewport": {"width": 320, "height": 1500}}
WITHOUT_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
WITHOUT_COPYING = f"{WITHOUT_CLIPBOARD} document.execCommand = () => false;"
LATE = json.dumps(["Late Wallet"])
LATE_WALLET = f"window.addEventListener('wallet-comes', () => {{ {INJECTED % LATE} }});"


def open_order(tab: Tab) -> Page:
    """Open an order that is paid on a chain."""
    return tab.visit(tab.shop.real_order(EnvMode.TEST, address=f"0x{next(ADDRESSES):040x}"))


def is_folded(page: Page) -> bool:
    return not page.locator("#devices").evaluate("(box) => box.open")


def code(page: Page) -> Locator:
    return page.get_by_role("img", name="QR code of this page's address")


@pytest.mark.parametrize(("name", "settings"), [("phone", PHONE), ("small-phone", SMALL_PHONE)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_page_opens_in_the_browsers_of_wallets(
    make_tab: Callable[..., Tab], name: str, settings: dict[str, Any], scheme: str
) -> None:
    tab = make_tab(**settings, color_scheme=scheme)
    page = open_order(tab)
    expect(page.locator("#no-wallet")).to_be_visible()
    links = page.locator(".wallet-links a")
    expect(links).to_have_count(4)
    opened = {}
    for link in links.all():
        expect(link).to_be_visible()
        expect(link).to_have_attribute("rel", "noreferrer")
        url = urlsplit(link.get_attribute("href") or "")
        assert url.scheme == "https"
        opened[url.hostname] = url
    page_url = tab.shop.url(tab.order_id)
    assert opened["link.metamask.io"].path == f"/dapp/{page_url.removeprefix('http://')}"
    assert parse_qs(opened["go.cb-w.com"].query) == {"cb_url": [page_url]}
    assert parse_qs(opened["link.trustwallet.com"].query) == {"coin_id": ["60"], "url": [page_url]}
    (deeplink,) = parse_qs(opened["web3.okx.com"].query)["deeplink"]
    assert deeplink.startswith("okx://wallet/dapp/url?dappUrl=")
    assert parse_qs(urlsplit(deeplink).query) == {"dappUrl": [page_url]}
    expect(code(page)).to_be_hidden()
    tab.inspect(f"devices-{name}-{scheme}")


def test_a_tap_leads_into_the_wallet(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(**PHONE)
    tab.context.route(
        "https://link.metamask.io/**", lambda route: route.fulfill(body="opened", content_type="text/html")
    )
    page = open_order(tab)
    with page.expect_request("https://link.metamask.io/**") as asked:
        page.get_by_role("link", name="MetaMask").tap()
    assert "referer" not in asked.value.headers
    assert asked.value.url.endswith(f"/payment/{tab.order_id}")


def test_on_a_desktop_a_phone_scans_the_code(tab: Tab) -> None:
    page = open_order(tab)
    expect(page.get_by_text("Scan it with your phone. The code is this page's address, nothing else.")).to_be_visible()
    expect(page.locator(".wallet-links a").first).to_be_hidden()
    expect(page.get_by_text(re.compile("ethereum:"))).to_have_count(0)
    assert read_code(code(page)) == page.url
    tab.inspect("devices-desktop")


def test_the_code_can_be_read_in_the_dark(make_tab: Callable[..., Tab]) -> None:
    for number, settings in enumerate(({"color_scheme": "dark"}, {"forced_colors": "active"})):
        tab = make_tab(**settings)
        page = open_order(tab)
        expect(code(page)).to_be_visible()
        assert read_code(code(page)) == page.url
        tab.inspect(f"devices-desktop-{('dark', 'contrast')[number]}")


def test_this_page_follows_what_is_paid_on_the_phone(
    make_tab: Callable[..., Tab], net: MainNet, wallet: TestWallet
) -> None:
    desktop, phone = make_tab(), make_tab(**PHONE)
    watched = open_order(desktop)
    expect(watched.locator("#no-wallet")).to_be_visible()
    wallet.inject(phone.page, "Phone Wallet")
    phone_page = choose_again(phone.visit(desktop.order_id), "ETH")
    with phone_page.expect_response("**/report"):
        pay_button(phone_page).click()
    desktop.shop.work()
    expect(watched.get_by_role("heading", name="Payment on its way")).to_be_focused()
    expect(watched.locator("#devices")).to_be_hidden()
    desktop.inspect("devices-follows")
    net.chain.mine(3)
    desktop.shop.work(rounds=2)
    expect(watched.get_by_role("heading", name="Payment complete")).to_be_visible()


def test_the_address_is_copied(tab: Tab) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = open_order(tab)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#copy-said")).to_contain_text("Link copied.")
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url
    expect(page.get_by_role("status")).to_contain_text("Link copied.")
    tab.inspect("devices-copied")


@pytest.mark.parametrize(("script", "said"), [(WITHOUT_CLIPBOARD, "Link copied."), (WITHOUT_COPYING, "is selected")])
def test_where_copying_is_forbidden_the_address_is_selected(tab: Tab, script: str, said: str) -> None:
    tab.page.add_init_script(script)
    page = open_order(tab)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#copy-said")).to_contain_text(said)
    assert page.evaluate("() => getSelection().toString()") == page.url


def test_with_a_wallet_the_other_ways_are_folded(tab: Tab, wallet: TestWallet) -> None:
    wallet.inject(tab.page, "Test Wallet")
    page = open_order(tab)
    expect(page.get_by_role("heading", name="Choose how to pay")).to_be_visible()
    expect(page.locator("#no-wallet")).to_be_hidden()
    assert is_folded(page)
    tab.inspect("devices-folded")
    page.get_by_text("Pay on your phone or another device").click()
    assert read_code(code(page)) == page.url
    tab.inspect("devices-unfolded")


def test_a_wallet_that_comes_late_takes_the_first_place(tab: Tab, wallet: TestWallet) -> None:
    tab.page.expose_function("askWallet", wallet.answer)
    tab.page.add_init_script(LATE_WALLET)
    page = open_order(tab)
    expect(page.locator("#no-wallet")).to_be_visible()
    page.evaluate("() => window.dispatchEvent(new Event('wallet-comes'))")
    expect(page.locator("#no-wallet")).to_be_hidden()
    assert is_folded(page)
    expect(pay_button(choose_again(page, "ETH"))).to_have_text(re.compile(r"^Pay ≈\s"))


def test_paying_without_a_wallet_leads_to_the_other_ways(tab: Tab) -> None:
    page = choose(tab, "ETH")
    expect(page.locator("#no-wallet")).to_be_visible()
    page.locator("#devices summary").click()
    assert is_folded(page)
    button = page.locator("#pay-button")
    expect(button).to_have_text("Pay on your phone or another device")
    button.click()
    expect(page.locator("#problem")).to_be_hidden()
    expect(page.locator("#no-wallet")).to_be_in_viewport(ratio=1)
    expect(page.locator("#devices summary")).to_be_focused()
    expect(code(page)).to_be_visible()


def test_without_a_wallet_a_phone_is_led_into_one(make_tab: Callable[..., Tab]) -> None:
    """Found: "Pay 42.50 USDC", where nothing could be signed, and what it said was out of view."""
    tab = make_tab(**{**PHONE, "viewport": {"width": 360, "height": 640}})
    page = choose(tab, "ETH")
    button = page.locator("#pay-button")
    expect(button).to_have_text("Pay in your wallet app")
    button.tap()
    expect(page.locator("#no-wallet")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("link", name="MetaMask")).to_be_in_viewport(ratio=1)


def test_by_keyboard_alone(tab: Tab, wallet: TestWallet) -> None:
    wallet.inject(tab.page, "Test Wallet")
    page = open_order(tab)
    expect(page.locator("#devices summary")).to_be_visible()  # it comes with the ways to pay
    page.locator("#devices summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("textbox", name="Or open this address on the other device:")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Copy link")).to_be_focused()


@pytest.mark.parametrize(("name", "settings"), [("phone", PHONE), ("desktop", {})])
def test_without_scripts_the_ways_are_there(make_tab: Callable[..., Tab], name: str, settings: dict[str, Any]) -> None:
    page = open_order(make_tab(**settings, java_script_enabled=False))
    expect(page.get_by_role("heading", name="This page needs JavaScript to take a payment")).to_be_visible()
    page.locator("#devices summary").click()
    expect(page.get_by_role("link", name="MetaMask")).to_be_visible(visible=name == "phone")
    expect(code(page)).to_be_visible(visible=name == "desktop")
    expect(page.locator("#devices").get_by_text(page.url, exact=True)).to_be_visible()
    expect(page.get_by_text("This page follows along")).to_be_hidden()
    expect(page.get_by_role("button")).to_have_count(0)


def test_without_a_connection_it_is_copied_all_the_same(tab: Tab) -> None:
    tab.expected.append("Failed to load resource")
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = open_order(tab)
    expect(page.locator("#no-wallet")).to_be_visible()
    tab.context.set_offline(True)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#copy-said")).to_contain_text("Link copied.")
    expect(code(page)).to_be_visible()


def test_while_a_wallet_asks_nobody_is_sent_elsewhere(tab: Tab, wallet: TestWallet) -> None:
    wallet.inject(tab.page, "Test Wallet")
    wallet.holds = {"eth_sendTransaction"}
    page = choose(tab, "ETH")
    pay_button(page).click()
    expect(page.get_by_role("heading", name="Your wallet is asking you")).to_be_visible()
    assert page.locator("#devices").evaluate("(box) => box.inert")
    # Afterwards the chain is put back, and a payment that is still being tried out would be refused.
    expect(page.locator("#wallet-progress")).to_contain_text("Confirm the payment in your wallet")
