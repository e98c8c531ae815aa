"""The way back to the shop after a payment, and who stays on the page instead."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.conftest import Tab


def test_the_customer_may_stay(tab: Tab) -> None:
    tab.context.clock.install()
    page = tab.open()
    tab.pay_button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    tab.work(10, rounds=2)
    page.clock.run_for(2_000)
    page.get_by_role("button", name="Stay on this page").click()
    expect(page.get_by_role("link", name=re.compile("^Return to"))).to_be_focused()
    page.clock.run_for(30_000)
    assert page.url == tab.shop.url(tab.order_id)


def test_who_does_anything_is_not_taken_away(tab: Tab) -> None:
    tab.context.clock.install()
    page = tab.open()
    tab.pay_button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    tab.work(10, rounds=2)
    page.clock.run_for(2_000)
    expect(page.locator("#announcer")).to_contain_text(re.compile(r"Payment complete\..* You will be taken back to"))
    expect(page.locator("#redirecting")).to_be_visible()
    page.mouse.wheel(0, 100)
    expect(page.locator("#redirecting")).to_be_hidden()
    page.clock.run_for(30_000)
    assert page.url == tab.shop.url(tab.order_id)


def test_who_comes_back_is_not_taken_away_again(tab: Tab) -> None:
    """A browser shows the page that it kept, of before the payment: its end is news to it."""
    page = tab.open()
    tab.pay_button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    page.goto("about:blank")
    tab.work(10, rounds=2)
    tab.context.clock.install()
    page.go_back()
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    page.clock.run_for(30_000)
    assert page.url == tab.shop.url(tab.order_id)


def test_a_paid_order_that_is_opened_again_sends_nobody_away(tab: Tab) -> None:
    page = tab.open()
    tab.pay_button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    tab.work(10, rounds=2)
    page.goto("about:blank")  # a page's own timers can't be ended once the clock is another
    tab.context.clock.install()
    page.goto(tab.shop.url(tab.order_id))
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    page.clock.run_for(60_000)
    assert page.url == tab.shop.url(tab.order_id)
    expect(page.get_by_role("button", name="Stay on this page")).to_be_hidden()
