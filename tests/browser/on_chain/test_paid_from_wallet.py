"""A payment from a wallet on a real chain, from its sending to the receipt: its own stages, hashes and explorer."""

from __future__ import annotations

import re
from datetime import timedelta

from playwright.sync_api import expect

from tests.browser.chain_shop import choose, pay_button
from tests.browser.conftest import Tab
from tests.browser.customer import read_rows, read_stages
from tests.browser.wallet import TestWallet
from tests.support.main_net import MainNet


def test_a_swap_is_followed_to_its_receipt(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    wallet.inject(tab.page, "Test Wallet")
    page = choose(tab, "ETH")
    pay_button(page).click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    swap = "Swap ETH for USDC with Uniswap v3"
    expect(page.locator("#steps")).to_contain_text(swap)
    assert read_stages(page)[0] == "now: Sent, waiting for Base to take it in"
    link = page.locator("#steps .step-hash a").first
    expect(link).to_have_text(re.compile("^0x[0-9a-f]{6}…[0-9a-f]{6}$"))
    tab.inspect("wallet-sent")
    tab.work()
    expect(page.get_by_role("heading", name="Payment on its way")).to_be_visible()
    assert read_stages(page)[1] == "done: ETH swapped for USDC with Uniswap v3"
    expect(link).to_have_attribute("href", re.compile("^https://basescan.org/tx/0x[0-9a-f]{64}$"))
    tab.inspect("wallet-processing")
    net.chain.mine(20)
    tab.shop.clock.advance(seconds=timedelta(minutes=1).total_seconds())
    tab.work(rounds=3)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    page.get_by_role("button", name="Stay on this page").click()
    shown = read_rows(page)
    assert re.fullmatch(r"≈ 0\.0\d+ ETH · Base", shown["paid"][0])
    assert shown["arrived"] == ["42.50 USDC · Base"]
    expect(page.get_by_role("link", name="View on the block explorer")).to_have_attribute(
        "href", re.compile("^https://basescan.org/tx/")
    )
    tab.inspect("wallet-receipt")
