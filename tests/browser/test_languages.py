"""The page in each of its languages: opened, paid, chosen by hand, from right to left, and in forced colours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from api.checkout_page.language.strings import LANGUAGES, Strings, load
from api.domain.env import EnvMode
from api.services.orders.commands import cancel
from tests.browser.conftest import Tab
from tests.browser.customer import simulate

SMALL = {"width": 320, "height": 640}
WIDE = {"width": 1280, "height": 860}
SEARCHED = {
    "en": "dollar euro bitcoin ethereum",
    "es": "dólar euro bitcoin ethereum",
    "de": "Dollar Euro Bitcoin Ethereum",
    "ar": "دولار يورو بيتكوين إيثريوم",
    "zh": "美元 欧元 比特币 以太坊",
}
"""What people call a dollar, a euro, a bitcoin and ether."""
AMOUNTS = """
() => {
  const found = [];
  const pattern = /\\d[\\d.,]*[ \\u00a0][A-Z]{3,5}/g;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const { index, 0: text } of node.data.matchAll(pattern)) {
      const boxes = [...text].map((sign, at) => {
        const range = document.createRange();
        range.setStart(node, index + at);
        range.setEnd(node, index + at + 1);
        return range.getClientRects()[0];
      }).filter((box) => box && box.width > 0);
      if (boxes.length < 2) continue;
      const follows = (box, before) => box.top > before.top + 4 || box.left > before.left;
      const inOrder = boxes.every((box, at) => at === 0 || follows(box, boxes[at - 1]));
      found.push([text, inOrder]);
    }
  }
  return found;
}
"""
"""Every amount that is drawn, and whether its signs stand from left to right."""
TORN_TITLES = """(texts) => texts.filter((text) => {
  const title = document.getElementById("outcome-title");
  title.textContent = text;
  const [style, words] = [getComputedStyle(title), text.split(" ")];
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = style.font;
  pen.letterSpacing = style.letterSpacing;
  return Math.max(...words.map((word) => pen.measureText(word).width)) > title.clientWidth;
})"""
"""Titles of an outcome with a word that no line has room for."""
HASHES = """
() => [...document.querySelectorAll(".mono")].filter((each) => each.offsetParent && each.textContent).map((each) => {
  const style = getComputedStyle(each);
  return [style.direction, style.unicodeBidi];
})
"""


def list_tokens(tab: Tab, strings: Strings) -> None:
    """Go to the list of all ways to pay, once the page has chosen the best."""
    expect(tab.page.get_by_role("heading", name=strings.page["review"], exact=True)).to_be_visible()
    tab.page.get_by_role("button", name=strings.page["change"], exact=True).click()
    expect(tab.page.get_by_role("heading", name=strings.page["heading"], exact=True)).to_be_visible()


def choose(tab: Tab, strings: Strings, chain: str, symbol: str) -> Locator:
    """Choose a token from the list, and return the button that pays with it."""
    tab.page.get_by_role("radio", name=chain, exact=True).check(force=True)
    tab.page.locator("#tokens").get_by_role("button", name=re.compile(rf"^{re.escape(symbol)} ")).press("Enter")
    return expect_pay_button(tab, strings, symbol)


def expect_pay_button(tab: Tab, strings: Strings, symbol: str) -> Locator:
    """Return the button that pays, once it says so in the page's language."""
    button = tab.page.locator("#pay-button")
    expect(button).to_be_visible()
    words = (re.escape(part).replace(r"\ ", r"\s") for part in strings.script["pay_test_button"].split("{amount}"))
    amount = rf"\u2066?(≈\s)?[\d.,]+\s{re.escape(symbol)}\u2069?"
    expect(button).to_have_text(re.compile(rf"^\s*{amount.join(words)}\s*$"))
    return button


def check_amounts(page: Page) -> None:
    """Check that no amount is turned around: each sign stands to the right of the one before."""
    amounts = page.evaluate(AMOUNTS)
    assert amounts, "no amount is shown"
    assert [text for text, is_in_order in amounts if not is_in_order] == []
    assert all(style == ["ltr", "isolate"] for style in page.evaluate(HASHES))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_pays_an_order(make_tab: Callable[..., Tab], language: str) -> None:
    strings = load(language)
    tab = make_tab(locale=strings.lang)
    page = tab.open()
    expect(page.locator("html")).to_have_attribute("lang", strings.lang)
    expect(page.locator("html")).to_have_attribute("dir", strings.dir)
    expect_pay_button(tab, strings, "USDC")
    check_amounts(page)
    tab.inspect(f"{language}-preselected")
    expect(page.get_by_text(strings.page["rounded"])).to_have_count(0)  # the price itself is exact
    list_tokens(tab, strings)
    check_amounts(page)
    tab.inspect(f"{language}-choose")
    for word, symbol in zip(SEARCHED[language].split(), ("USDC", "EURC", "cbBTC", "ETH"), strict=True):
        page.locator("#search").fill(word)
        expect(page.locator(".token-symbol").get_by_text(symbol, exact=True).first).to_be_visible()
    page.locator("#search").fill("")
    button = choose(tab, strings, "Arbitrum", "ETH")
    page.locator(".quote-more > summary").click()
    expect(page.locator("#exact-amount")).to_be_visible()
    expect(page.get_by_text(strings.page["rounded"])).to_be_visible()
    check_amounts(page)
    tab.inspect(f"{language}-quote")
    button.click()
    expect(page.get_by_role("heading", name=strings.script["sent_title"])).to_be_visible()
    tab.work()
    expect(page.get_by_role("heading", name=strings.status["processing"]["title"], exact=True)).to_be_visible()
    tab.inspect(f"{language}-processing")
    tab.work(10, rounds=3)
    expect(page.get_by_role("heading", name=strings.status["success"]["title"])).to_be_visible()
    check_amounts(page)
    tab.inspect(f"{language}-success")


@pytest.mark.parametrize("viewport", [SMALL, WIDE], ids=["small", "wide"])
def test_arabic_runs_from_right_to_left_and_its_amounts_from_left_to_right(
    make_tab: Callable[..., Tab], viewport: dict[str, int]
) -> None:
    strings, name = load("ar"), f"ar-{viewport['width']}"
    tab = make_tab(locale="ar-EG", viewport=viewport)
    page = tab.open(
        merchant="بيت الشاي",
        order_price={"currency": "DAI", "amount": 1_234_567_890_123_456_789_012, "decimals": 18},
        line_items=({"title": "Tea (green)", "quantity": 3}, {"title": "شاي أخضر", "quantity": 1200}),
    )
    assert page.locator(".checkout").evaluate("(each) => getComputedStyle(each).direction") == "rtl"
    expect(page.locator(".total")).to_have_text("1,234.567890123456789012 DAI")
    expect_pay_button(tab, strings, "DAI")
    check_amounts(page)
    tab.inspect(f"{name}-preselected")
    list_tokens(tab, strings)
    check_amounts(page)
    tab.inspect(f"{name}-choose")
    choose(tab, strings, "Arbitrum", "ETH")
    page.locator(".quote-more > summary").click()
    check_amounts(page)
    tab.inspect(f"{name}-quote")
    page.locator("#pay-button").click()
    expect(page.get_by_role("heading", name=strings.script["sent_title"])).to_be_visible()
    tab.work(rounds=2)
    expect(page.get_by_role("heading", name=strings.status["processing"]["title"], exact=True)).to_be_visible()
    check_amounts(page)
    tab.inspect(f"{name}-processing")
    tab.work(10, rounds=3)
    expect(page.get_by_role("heading", name=strings.status["success"]["title"])).to_be_visible()
    check_amounts(page)
    tab.inspect(f"{name}-success")


@pytest.mark.parametrize(("language", "turned"), [("ar", "matrix(-1, 0, 0, 1, 0, 0)"), ("en", "none")])
def test_pictures_that_point_do_so_in_the_direction_of_the_language(
    make_tab: Callable[..., Tab], language: str, turned: str
) -> None:
    strings = load(language)
    tab = make_tab(locale=strings.lang)
    page = tab.open()
    expect_pay_button(tab, strings, "USDC")
    cancel(tab.shop.resources, tab.shop.state(tab.order_id).vendor_id, EnvMode.TEST, tab.order_id)
    tab.work()
    arrow = page.locator("#outcome .icon.back")
    expect(arrow).to_be_visible()
    assert look(arrow, "transform") == turned
    tab.inspect(f"{language}-cancelled")
    # The chevrons in the list of wallets, which a simulated order has none of, point by the same rule.
    arrow.evaluate("(each) => each.classList.replace('back', 'chevron')")
    assert look(page.locator("#outcome .icon.chevron"), "transform") == turned


@pytest.mark.parametrize("language", ["es", "de", "ar", "zh"])
def test_each_language_tells_what_is_missing_and_what_went_wrong(make_tab: Callable[..., Tab], language: str) -> None:
    strings = load(language)
    tab = make_tab(locale=strings.lang, viewport=SMALL, has_touch=True)
    page = tab.open(order_price={"currency": "USDC", "amount": 1_234_500_000, "decimals": 6})
    simulate(page, strings.simulate["underpay"]["title"])
    tab.work(rounds=3)
    expect(page.locator("#banner")).to_contain_text(strings.status["processing.underpaid"]["title"])
    expect(page.locator("body")).not_to_contain_text("{")
    check_amounts(page)
    tab.inspect(f"{language}-underpaid")
    simulate(page, strings.simulate["expire"]["title"])
    expect(page.get_by_role("heading", name=strings.status["failed.underpaid"]["title"])).to_be_visible()
    check_amounts(page)
    tab.inspect(f"{language}-failed")
    titles = [texts["title"] for texts in (*strings.status.values(), *strings.notice.values())]
    assert language == "zh" or page.evaluate(TORN_TITLES, [each for each in titles if "{" not in each]) == []


def test_a_language_chosen_by_hand_stays_and_answers_are_in_it(make_tab: Callable[..., Tab]) -> None:
    strings = load("de")
    tab = make_tab(locale="en-GB")
    page = tab.open()
    page.get_by_role("navigation", name="Language").get_by_role("link", name="Deutsch").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("link", name="Deutsch")).to_have_attribute("aria-current", "true")
    (cookie,) = tab.context.cookies()
    kept = {name: cookie[name] for name in ("value", "path", "httpOnly", "sameSite")}  # type: ignore[literal-required]
    assert kept == {"value": "de", "path": "/payment", "httpOnly": True, "sameSite": "Lax"}
    page = tab.visit(tab.order_id)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    list_tokens(tab, strings)
    choose(tab, strings, "Base", "USDC")
    expect(page.locator("#quote-amount")).to_have_text("42,50 USDC")
    assert ask(page, "status")["title"] == strings.status["created"]["title"]
    another = tab.context.new_page()
    another.goto(f"{tab.shop.url(tab.order_id)}?lang=zh")
    expect(another.locator("html")).to_have_attribute("lang", "zh-Hans")
    page.locator("#pay-button").click()
    expect(page.get_by_role("heading", name=strings.script["sent_title"])).to_be_visible()
    tab.work(10, rounds=3)
    expect(page.get_by_role("heading", name=strings.status["success"]["title"])).to_be_visible()
    expect(page.locator("#outcome")).to_contain_text("42,50 USDC")


def test_without_cookies_answers_are_in_the_language_of_their_page(tab: Tab) -> None:
    order_id = tab.shop.order()
    tab.page.route("**/payment/**", lambda route: route.continue_(headers=without_cookies(route.request.headers)))
    page = tab.page
    page.goto(f"{tab.shop.url(order_id)}?lang=es")
    strings = load("es")
    list_tokens(tab, strings)
    choose(tab, strings, "Base", "USDC").click()
    expect(page.get_by_role("heading", name=strings.script["sent_title"])).to_be_visible()
    tab.work(10, rounds=3)
    expect(page.get_by_role("heading", name=strings.status["success"]["title"])).to_be_visible()


@pytest.mark.parametrize(("locale", "shown"), [("en-GB", "."), ("de-DE", ","), ("ar-EG", ".")])
def test_the_exact_amount_is_copied_as_wallets_read_it(make_tab: Callable[..., Tab], locale: str, shown: str) -> None:
    strings = load(locale.partition("-")[0])
    tab = make_tab(locale=locale, permissions=["clipboard-read", "clipboard-write"])
    page = tab.open()
    list_tokens(tab, strings)
    choose(tab, strings, "Arbitrum", "ETH")
    page.locator(".quote-more > summary").click()
    page.locator("#copy-exact").click()
    expect(page.locator("#announcer")).to_have_text(strings.script["copied"])
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert re.fullmatch(r"0\.\d{10,18}", copied)
    assert copied.replace(".", shown) in page.locator("#exact-amount").inner_text()


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_scripts_a_language_can_be_chosen(make_tab: Callable[..., Tab], language: str) -> None:
    strings = load(language)
    tab = make_tab(java_script_enabled=False, locale="pt-BR")
    page = tab.open()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.get_by_role("link", name=strings.name).click()
    expect(page.get_by_role("heading", name=strings.page["noscript_title"])).to_be_visible()
    expect(page.locator("html")).to_have_attribute("dir", strings.dir)
    page = tab.visit(tab.order_id)
    expect(page.get_by_role("heading", name=strings.page["noscript_title"])).to_be_visible()


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_order_that_there_is_not_is_said_in_each_language(make_tab: Callable[..., Tab], language: str) -> None:
    strings = load(language)
    tab = make_tab(locale=strings.lang, viewport=SMALL)
    tab.expected.append("404")
    page = tab.visit("po_nothing")
    expect(page.get_by_role("heading", name=strings.not_found["title"])).to_be_visible()
    expect(page.locator("html")).to_have_attribute("dir", strings.dir)
    tab.inspect(f"{language}-not-found")
    page.get_by_role("link", name=load("de").name).click()
    expect(page.get_by_role("heading", name=load("de").not_found["title"])).to_be_visible()


def test_dates_and_numbers_are_those_of_the_customers_region(make_tab: Callable[..., Tab]) -> None:
    shown = {}
    for locale in ("en-US", "en-GB", "de-AT", "es-MX", "es-ES"):
        page = make_tab(locale=locale, timezone_id="UTC").open(
            order_price={"currency": "USDC", "amount": 1_234_500_000, "decimals": 6}
        )
        shown[locale] = (page.locator(".total").inner_text(), page.locator("#deadline time").inner_text())
    assert {locale: amount for locale, (amount, _) in shown.items()} == {
        "en-US": "1,234.50 USDC",
        "en-GB": "1,234.50 USDC",
        "de-AT": "1.234,50 USDC",
        "es-MX": "1,234.50 USDC",
        "es-ES": "1.234,50 USDC",
    }
    assert shown["en-US"][1].startswith("Mar 2, 2026")
    assert shown["en-GB"][1].startswith("2 Mar 2026")
    assert shown["de-AT"][1].startswith("2. März 2026")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_chosen_and_where_the_focus_is_can_be_seen_in_forced_colours(
    make_tab: Callable[..., Tab], scheme: str
) -> None:
    tab = make_tab(forced_colors="active", color_scheme=scheme)
    page = tab.open()
    tab.list_tokens()
    expect(page.get_by_role("heading", name="Choose how to pay")).to_be_visible()
    tab.inspect(f"forced-{scheme}-choose")
    chosen, other = (
        page.locator("#chains input:checked + .chip"),
        page.locator("#chains input:not(:checked) + .chip").first,
    )
    assert look(chosen, "backgroundColor") != look(other, "backgroundColor")
    page.locator("#search").focus()
    page.keyboard.press("Tab")
    assert look(page.locator(":focus"), "outlineStyle") == "solid"
    tab.choose("Arbitrum", "ETH")
    tab.inspect(f"forced-{scheme}-quote")
    primary, plain = page.locator("#pay-button"), page.locator("#change")
    assert look(primary, "borderTopWidth") != look(plain, "borderTopWidth")
    primary.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    tab.work(0.3)
    expect(page.get_by_role("heading", name="Payment on its way", exact=True)).to_be_visible()
    tab.inspect(f"forced-{scheme}-processing")
    done, todo = (
        page.locator(".step[data-state=done] .step-mark").first,
        page.locator(".step[data-state=todo] .step-mark"),
    )
    assert look(done, "backgroundColor") != look(todo.first, "backgroundColor")
    tab.work(10, rounds=3)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    tab.inspect(f"forced-{scheme}-success")


def look(element: Locator, name: str) -> Any:
    return element.evaluate("(each, name) => getComputedStyle(each)[name]", name)


def ask(page: Page, name: str) -> dict[str, Any]:
    """Ask what the page's scripts ask, with the cookie alone."""
    text = page.evaluate("async (path) => (await fetch(path)).text()", f"{page.url.partition('?')[0]}/{name}")
    answer: dict[str, Any] = json.loads(text)
    return answer


def without_cookies(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() != "cookie"}
