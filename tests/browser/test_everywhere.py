"""The page with hostile texts, without scripts, on a small screen, in the dark, from right to left."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Tab

RLO, PDI = "\N{RIGHT-TO-LEFT OVERRIDE}", "\N{POP DIRECTIONAL ISOLATE}"
HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "'\"><img src=x onerror='window.hacked = 1'>",
    "{{ 7 * 7 }} {merchant} {amount} ${window.hacked = 1}",
    f"{RLO}gnp.eugol{PDI} )-:",
    "</noscript><style>body{display:none}</style>&lt;b&gt;",
)
SMALL = {"width": 320, "height": 640}
COLOURS: Mapping[str, Mapping[str, Any]] = {
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "contrast": {"color_scheme": "light", "forced_colors": "active"},
}
CARDS = [{"title": title, "quantity": 1, "description": title} for title in HOSTILE]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_merchant_becomes_markup(tab: Tab, text: str) -> None:
    merchant = text if text.isprintable() else "Tea & Co"
    item = {"title": text, "quantity": 1, "description": text, "image_url": "https://img.example/ok.png?'\"><script>"}
    page = tab.open(merchant=merchant, line_items=(item,), metadata={"note": text})
    tab.pay_button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    tab.work(10, rounds=2)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    assert page.evaluate("() => window.hacked") is None
    assert page.locator(".item-title").inner_text() == text
    assert page.locator(".merchant-name").inner_text().startswith(merchant)
    assert page.locator("script").count() == 1


@pytest.mark.parametrize("url", ["javascript:window.hacked=1", "data:text/html,<h1>hacked", "//evil.example", ""])
def test_nobody_is_sent_to_an_address_that_is_no_web_page(tab: Tab, url: str) -> None:
    page = tab.open(success_callback_url=url, line_items=({"title": "Tea", "quantity": 1, "image_url": url},))
    tab.pay_button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    tab.work(10, rounds=2)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    expect(page.locator("#return")).to_be_hidden()
    expect(page.locator(".item-picture img")).to_have_count(0)


def test_pictures_load_or_give_way_to_a_letter(tab: Tab) -> None:
    tab.expected.append("404")
    page = tab.open(
        line_items=(
            {"title": "Seen", "quantity": 1, "image_url": "https://img.example/ok.png"},
            {"title": "Broken", "quantity": 1, "image_url": "https://img.example/broken.png"},
        )
    )
    expect(page.locator(".item-picture img")).to_have_count(1)
    picture = page.get_by_role("img", name="Picture of Seen")
    expect(picture).to_have_attribute("referrerpolicy", "no-referrer")
    assert picture.evaluate("(image) => image.naturalWidth") == 1


def test_the_page_frames_nothing_and_is_framed_by_nobody(tab: Tab) -> None:
    order_id = tab.shop.order()
    response = tab.page.goto(tab.shop.url(order_id))
    assert response is not None
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    tab.expected.append("CSP: script-src-elem inline")
    tab.expected.append("Executing inline script violates")
    tab.page.evaluate(
        "() => { const s = document.createElement('script'); s.text = 'hacked = 1'; document.body.append(s); }"
    )
    assert tab.page.evaluate("() => window.hacked") is None


def test_without_scripts_it_says_what_to_do(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(java_script_enabled=False)
    page = tab.open()
    expect(page.get_by_role("heading", name="This page needs JavaScript to take a payment")).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)
    page.get_by_text("Pay on your phone").click()
    expect(page.get_by_role("img", name="QR code of this page's address")).to_be_visible()
    snap(page, "no-script")


def test_scripts_that_do_not_come_are_not_waited_for_in_silence(tab: Tab) -> None:
    tab.expected.append("Failed to load resource")
    tab.page.route("**/main-*.js", lambda route: route.abort())
    page = tab.open()
    expect(page.get_by_role("heading", name="Still loading")).to_be_visible()
    tab.inspect("scripts-missing")


def test_without_scripts_it_follows_a_payment(make_tab: Callable[..., Tab], tab: Tab) -> None:
    page = tab.open()
    tab.pay_button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    tab.work()
    plain = make_tab(java_script_enabled=False).visit(tab.order_id)
    expect(plain.get_by_role("heading", name="Payment on its way")).to_be_visible()
    expect(plain.locator("meta[http-equiv=refresh]")).to_have_count(1)
    tab.work(10)
    plain.reload()
    expect(plain.get_by_role("heading", name="Payment complete")).to_be_visible()
    expect(plain.get_by_role("link", name=re.compile("^Return to"))).to_be_visible()
    expect(plain.locator("meta[http-equiv=refresh]")).to_have_count(0)


@pytest.mark.parametrize(
    ("name", "settings", "direction"),
    [
        ("small", {"viewport": SMALL, "has_touch": True}, "ltr"),
        ("small-dark-rtl", {"viewport": SMALL, "color_scheme": "dark"}, "rtl"),
        ("rtl", {}, "rtl"),
        ("still", {"reduced_motion": "reduce"}, "ltr"),
        ("colours", {}, "ltr"),
    ],
)
def test_looks_right(make_tab: Callable[..., Tab], name: str, settings: dict[str, Any], direction: str) -> None:
    tab = make_tab(**settings)
    page = tab.open(
        order_price={"currency": "DAI", "amount": 123_456_789_012_345_678_901, "decimals": 18},
        line_items=({"title": "שוקולד ‎(dark)", "quantity": 3, "description": "x" * 200}, *CARDS),
    )
    if tab.page.viewport_size == SMALL:
        page.locator(".details-toggle").click()
    page.get_by_text("Show 3 more").click()
    turn(page, direction)
    inspect_looks(tab, name, "choose")
    tab.choose("Arbitrum", "ETH")
    inspect_looks(tab, name, "quote")
    page.get_by_role("button", name=re.compile("with the test wallet")).click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    page.get_by_role("link", name=re.compile("^Return to")).click()
    inspect_looks(tab, name, "leaving")
    page.keyboard.press("Escape")
    tab.work(rounds=2)
    expect(page.get_by_role("heading", name="Payment on its way")).to_be_visible()
    page.get_by_text("Test controls").click()
    inspect_looks(tab, name, "processing")
    if name == "still":
        assert page.evaluate("() => document.getAnimations().length") == 0
    tab.work(10, rounds=3)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    inspect_looks(tab, name, "success")


def inspect_looks(tab: Tab, name: str, state: str) -> None:
    """Inspect the page as it stands; where colours are looked at, in the dark and in a system's own."""
    for look, media in COLOURS.items() if name == "colours" else [(name, {})]:
        tab.page.emulate_media(**media)
        tab.inspect(f"{look}-{state}")


def test_every_digit_of_a_price_is_shown(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(viewport=SMALL)
    price = {"currency": "USDC", "amount": 2**256 - 1, "decimals": 36}
    page = tab.visit(tab.shop.real_order(order_price=price))  # the amount is beyond what a market could take
    digits = "115,792,089,237,316,195,423,570,985,008,687,907,853,269.984665640564039457584007913129639935"
    expect(page.locator(".total")).to_have_text(f"{digits} USDC")
    tab.inspect("long-price")


def test_the_code_for_the_phone_is_this_page(tab: Tab) -> None:
    page = tab.open()
    page.get_by_text("Pay on your phone").click()
    expect(page.get_by_role("img", name="QR code of this page's address")).to_be_visible()
    tab.inspect("qr")


def turn(page: Page, direction: str) -> None:
    """Set the page in a language that is written in this direction."""
    page.evaluate("(direction) => { document.documentElement.dir = direction; }", direction)


def snap(page: Page, name: str) -> None:
    from tests.browser.conftest import FOLDER

    if FOLDER:
        page.screenshot(path=f"{FOLDER}/{name}.png", full_page=True)
