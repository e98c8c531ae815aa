"""One payment in flight: whatever is clicked while the wallet asks, one order is paid once."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chain_shop import (
    PRICE,
    choose,
    choose_again,
    merchants_balance,
    pay_button,
)
from tests.browser.conftest import Tab
from tests.browser.wallet import PAYER, TestWallet
from tests.support.main_net import MainNet

SEND = "eth_sendTransaction"
CLICK = """
async (selector) => {
  const found = document.querySelector(selector);
  if (found && !found.closest("[hidden]")) found.click();
  for (let turn = 0; turn < 8; turn += 1) await fetch(`${location.pathname}/tokens`);
}
"""
"""Clicks, and gives what follows the time of a few requests."""
STARTS_AGAIN = ("#change", "#tokens .token", "#accept", "#pay-button", "#refresh", "#pay-button", "#pay-anyway")
"""What a customer clicks who wants to begin anew; the first token of the list is the merchant's own."""


@pytest.fixture(scope="module")
def net(net: MainNet) -> MainNet:
    net.fund(PAYER, "USDC", 10 * PRICE)
    return net


@pytest.fixture
def wallet(wallet: TestWallet) -> TestWallet:
    wallet.holds = {SEND}
    return wallet


def ask(tab: Tab, wallet: TestWallet) -> Page:
    """Have the wallet ask its user to pay."""
    wallet.inject(tab.context, "Slow Wallet")
    page = choose(tab, "USDC")
    pay_button(page).click()
    expect(page.locator("#wallet-progress")).to_contain_text("Confirm the payment in your wallet")
    return page


def start_again(page: Page) -> None:
    """Click whatever may begin another payment, also where a mouse could not: scripts must not rely on looks."""
    for selector in STARTS_AGAIN:
        page.evaluate(CLICK, selector)


def test_two_prompts_that_are_both_confirmed_pay_once(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    """Attack: 85.00 were paid for 42.50."""
    page = ask(tab, wallet)
    start_again(page)
    wallet.confirm(page)
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    assert [method for _, method in wallet.asked].count(SEND) == 1
    assert merchants_balance(tab, net) == PRICE


def test_a_second_tab_pays_nothing_while_the_first_one_asks(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    """Attack: the same, with two tabs."""
    page = ask(tab, wallet)
    other = tab.context.new_page()
    other.goto(page.url)
    expect(other.get_by_role("heading", name="Another tab is paying this order")).to_be_visible()
    start_again(other)
    wallet.confirm(page, other)
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    expect(other.get_by_role("heading", name="Payment sent")).to_be_visible()
    assert merchants_balance(tab, net) == PRICE


def test_a_tab_that_was_open_before_learns_of_it(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    wallet.inject(tab.context, "Slow Wallet")
    page = choose(tab, "USDC")
    other = tab.context.new_page()
    other.goto(page.url)
    choose_again(other, "USDC")
    pay_button(page).click()
    expect(page.locator("#wallet-progress")).to_contain_text("Confirm the payment in your wallet")
    expect(other.get_by_role("heading", name="Another tab is paying this order")).to_be_visible()
    start_again(other)
    wallet.confirm(page, other)
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    assert merchants_balance(tab, net) == PRICE


def test_a_tab_that_was_closed_while_the_wallet_asked_is_no_dead_end(
    tab: Tab, net: MainNet, wallet: TestWallet
) -> None:
    """Its wallet may still be asking; whoever knows better says so, and pays.

    Found: "The other tab has finished" was read out, with no other tab, and the focus was lost with the button.
    """
    page = ask(tab, wallet)
    page.reload()
    expect(page.get_by_role("heading", name="Your wallet may still be asking you")).to_be_visible()
    tab.inspect("second-tab-desktop")
    page.set_viewport_size({"width": 390, "height": 844})
    tab.inspect("second-tab-phone")
    start_again(page)
    assert wallet.prompts == [SEND]
    wallet.holds = set()
    page.get_by_role("button", name="That payment is not going on any more").click()
    expect(page.get_by_role("heading", name="Your wallet may still be asking you")).to_be_hidden()
    expect(page.get_by_role("status").first).to_have_text("You can go on here.")
    expect(page.get_by_role("main")).to_be_focused()
    choose_again(page, "USDC")
    pay_button(page).click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    assert merchants_balance(tab, net) == PRICE


def test_the_notice_of_another_tab_goes_by_itself(tab: Tab, wallet: TestWallet) -> None:
    wallet.inject(tab.context, "Slow Wallet")
    tab.context.clock.install()
    page = choose(tab, "USDC")
    pay_button(page).click()
    expect(page.locator("#wallet-progress")).to_contain_text("Confirm the payment in your wallet")
    page.reload()
    expect(page.get_by_role("heading", name="Your wallet may still be asking you")).to_be_visible()
    expect(page.locator("#tokens .token").first).to_be_visible()  # its request would run into its time limit below
    page.clock.run_for(21 * 60_000)
    expect(page.get_by_role("heading", name="Your wallet may still be asking you")).to_be_hidden()
    choose_again(page, "USDC")


def test_a_tab_that_dies_while_another_one_looks_is_told_from_one_that_pays(tab: Tab, wallet: TestWallet) -> None:
    """Found: "Another tab is paying this order", with no other tab."""
    page = ask(tab, wallet)
    other = tab.context.new_page()
    other.goto(page.url)
    expect(other.get_by_role("heading", name="Another tab is paying this order")).to_be_visible()
    page.close()
    expect(other.get_by_role("heading", name="Your wallet may still be asking you")).to_be_visible()
    start_again(other)
    assert wallet.prompts == [SEND]


def test_a_payment_that_is_seen_is_asked_for_no_more(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    """Found: "Your wallet is asking you" above "Payment on its way", of a wallet that paid and never answered."""
    wallet.inject(tab.context, "Slow Wallet")
    wallet.holds = set()
    wallet.forgets = {SEND}
    net.chain.mine(60)  # more than an earlier test has taken back
    tab.shop.work(10)
    page = choose(tab, "USDC")
    net.chain.rpc("evm_setNextBlockTimestamp", int(tab.shop.clock.now().timestamp()) + 5)
    pay_button(page).click()
    expect(page.locator("#wallet-progress")).to_contain_text("Confirm the payment in your wallet")
    page.evaluate(CLICK, "#nothing")
    assert merchants_balance(tab, net) == PRICE
    tab.work(10, rounds=2)
    expect(page.get_by_role("heading", name=re.compile("^Payment (on its way|complete)$"))).to_be_visible()
    expect(page.get_by_role("heading", name="Your wallet is asking you")).to_be_hidden()


def test_who_declines_can_use_the_page_again(tab: Tab, wallet: TestWallet) -> None:
    page = ask(tab, wallet)
    for selector in ("#change", "#choose", "#cancel", "#refresh", "#claim"):
        expect(page.locator(selector)).to_have_js_property("inert", True)
    wallet.declines = {SEND}
    wallet.confirm(page)
    expect(page.locator("#problem")).to_contain_text("You declined in your wallet")
    page.get_by_role("button", name="Change").click()
    choose_again(page, "ETH")
