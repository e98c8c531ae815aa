"""Paying on the page, in a real browser, from the choice of a token to the way back to the shop."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from api.domain.orders import OrderStatus
from tests.browser.conftest import Tab

HASH = re.compile("^0x[0-9a-f]{64}$")
TAP_TWICE_MORE = """
([x, y]) => new Promise((resolve) => {
  const hits = [];
  const ANY = { bubbles: true, cancelable: true };
  const make = (clientX, clientY) => new MouseEvent("click", { detail: 1, clientX, clientY, ...ANY });
  const tap = (what) => {
    what.dispatchEvent(make(x + 3, y - 3));
    return hits.length;
  };
  new MutationObserver((_, observer) => {
    if (document.getElementById("progress").hidden) return;
    observer.disconnect();
    const link = document.body.appendChild(document.createElement("button"));
    link.addEventListener("click", () => hits.push("hit"));
    const early = tap(link);
    setTimeout(() => resolve([early, tap(link)]), 750);
  }).observe(document.body, { subtree: true, attributes: true });
  document.getElementById("pay-button").dispatchEvent(make(x, y));
})
"""
"""Tap Pay, at once what stands there as soon as the payment was sent, and the same again a little later."""


@pytest.mark.rule("links.12")
def test_pays_with_the_merchants_own_token_and_returns(tab: Tab) -> None:
    page = tab.open()
    expect(tab.pay_button).to_be_visible()
    tab.inspect("preselected")
    tab.list_tokens()
    tab.inspect("choose")
    button = tab.choose("Base", "USDC")
    expect(button).to_have_text("Pay 42.50 USDC with the test wallet")
    expect(page.locator("#quote-total")).to_have_text("≈ 42.50 USDC in all, fees under 0.01")
    page.get_by_text("Details", exact=True).click()
    expect(page.get_by_text("without conversion")).to_be_visible()
    tab.inspect("quote-direct")
    button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_focused()
    tab.inspect("sent")
    tab.work()
    expect(page.get_by_role("heading", name="Payment on its way")).to_be_focused()
    expect(page.locator(".transaction")).to_contain_text("Base")
    expect(page.get_by_text(HASH)).to_be_visible()
    tab.inspect("processing")
    tab.work(10)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_focused()
    tab.inspect("success")
    assert tab.shop.state(tab.order_id).status == OrderStatus.SUCCESS
    page.wait_for_url(re.compile("shop.example"))
    assert page.url == f"https://shop.example/done?success=true&payment_order_id={tab.order_id}&status=success"


def test_pays_from_another_chain_through_a_route(tab: Tab) -> None:
    page = tab.open()
    button = tab.choose("Arbitrum", "ETH")
    paid = page.locator("#quote-amount").inner_text()
    assert re.fullmatch(r"≈ 0\.0\d{1,6} ETH", paid)
    expect(page.locator("#quote-total")).to_have_text(re.compile(r"^≈ 42\.\d\d USDC in all, fees 0\.\d\d$"))
    page.get_by_text("Details", exact=True).click()
    expect(page.locator("#exact-amount")).to_have_text(re.compile(r"^0\.\d{10,18} ETH$"))
    expect(button).to_have_text(f"Pay {paid} with the test wallet")
    lines = page.locator("#quote-lines")
    expect(lines).to_contain_text("42.50 USDC · Base")
    expect(lines).to_contain_text("Network fee")
    expect(lines).to_contain_text("At most")
    expect(lines).to_contain_text(re.compile("(moved|Moved) to Base with .* on the way"))
    tab.inspect("quote-route")
    button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    tab.work(rounds=12)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    expect(page.locator(".transaction")).to_have_count(2)
    expect(page.locator(".transaction").first).to_contain_text("Arbitrum")
    expect(page.get_by_role("link", name="View on the block explorer")).to_have_count(0)


def test_works_with_the_keyboard_alone(tab: Tab) -> None:
    page = tab.open()
    pay = tab.pay_button
    expect(pay).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to payment")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Change")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Choose how to pay")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Back", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("dai")
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^\d+ ways to pay\.$"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("radio", name="All")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip the list")).to_be_focused()
    page.keyboard.press("Tab")
    dai = page.get_by_role("button", name=re.compile("^DAI "))
    expect(dai.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Review and pay")).to_be_focused()
    expect(pay).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Change")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dai.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(pay).to_be_visible()
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(pay).to_be_focused()
    tab.inspect("keyboard-focus")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Payment sent")).to_be_focused()
    tab.work(rounds=12)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name=re.compile("^Return to"))).to_be_focused()


def test_a_second_tap_hits_nothing_that_has_just_come(make_tab: Callable[..., Tab]) -> None:
    """Found: the second of two taps on Pay switched the page to German."""
    tab = make_tab(viewport={"width": 390, "height": 844})
    page = tab.open()
    expect(page.locator("#quote-total")).to_be_visible()
    place = page.locator("#pay-button").bounding_box()
    assert place
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    assert page.evaluate(TAP_TWICE_MORE, [x, y]) == [0, 1]
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()


def test_the_browsers_own_back_leads_through_the_steps_and_a_reload_keeps_the_choice(tab: Tab) -> None:
    """Found: Back left the checkout, and a reload forgot the token."""
    page = tab.open()
    expect(page.locator("#quote-total")).to_be_visible()
    tab.list_tokens()
    page.goto(tab.shop.url(tab.order_id))
    expect(page.get_by_role("heading", name="Review and pay")).to_be_visible()
    tab.choose("Arbitrum", "USDC")
    page.reload()
    expect(page.locator("#review")).to_contain_text("Arbitrum")
    expect(tab.pay_button).to_be_visible()
    assert tab.shop.state(tab.order_id).status == OrderStatus.CREATED
    page.get_by_role("button", name="Change").click()
    page.goto(tab.shop.url(tab.order_id))
    expect(page.locator("#review")).to_contain_text("Arbitrum")
    page.get_by_role("button", name="Change").press("Enter")
    page.get_by_role("button", name="Back", exact=True).press("Enter")
    expect(page.locator("#review")).to_contain_text("Arbitrum")
    expect(page).to_have_url(tab.shop.url(tab.order_id))
