"""What a phone on its side, a small or enlarged screen, long texts and a system's own colours do to the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from api.domain.simulation import Action
from api.services.simulator.actions import simulate
from tests.browser.conftest import Tab
from tests.browser.gallery.looks import PHONE, SMALL
from tests.browser.gallery.states import LONG

ENDLESS = {
    "10^30": {"currency": "USDC", "amount": 10**30, "decimals": 0},
    "2^256": {"currency": "USDC", "amount": 2**256 - 1, "decimals": 6},
}
MIDDLE = {**PHONE, "viewport": {"width": 360, "height": 740}}
OUTSIDE = """() => [...document.querySelectorAll(".bill *, .quote *, .pay-bar *, .token *, .record *, .notice *")]
  .filter((each) => each.checkVisibility() && !each.closest(".visually-hidden, .skip"))
  .filter((each) => {
    const card = each.closest(".bill, .quote, .pay-bar, .token, .record, .notice").getBoundingClientRect();
    const { left, right, width } = each.getBoundingClientRect();
    return width > 1 && (right > card.right + .5 || left < card.left - .5);
  }).map((each) => each.outerHTML.slice(0, 80))"""
"""What stands beyond the edge of its card."""
LONG_PRICE = {"currency": "USDC", "amount": 10**24 + 1, "decimals": 18}
PRECISE_PRICE = {"currency": "DAI", "amount": 12_345_678_901_234_567, "decimals": 18}
BROKEN = """() => [...document.querySelectorAll(".total, #quote-amount, #quote-total, .pay-label, #receipt-rows dd")]
  .filter((each) => each.checkVisibility())
  .flatMap((each) => {
    const walker = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      for (const run of walker.currentNode.data.matchAll(/\\d[\\d.,]*/g)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, run.index);
        range.setEnd(walker.currentNode, run.index + run[0].length);
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(run[0]);
      }
    }
    return found;
  })"""
"""Numbers of which a part stands in another line."""
ENLARGE = """addEventListener("DOMContentLoaded", () => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("html { font-size: 200% }");
  document.adoptedStyleSheets = [sheet];
});"""
LINES = """() => ["#quote-amount", "#quote-total", "#exact-amount", ".pay-label"].map((name) => {
  const each = document.querySelector(name);
  const walker = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
  const lines = new Map();
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    for (let at = 0; at < node.length; at += 1) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const top = Math.round(range.getBoundingClientRect().top);
      lines.set(top, (lines.get(top) ?? "") + node.data[at]);
    }
  }
  return [...lines.values()].filter((line) => line.trim());
})"""
"""Texts with an amount, as they stand line by line."""
TORN = """() => [...document.querySelectorAll(".token-symbol, .token-chain, .token-name")].filter((each) => {
  const range = document.createRange();
  range.selectNodeContents(each);
  const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
  return lines > each.textContent.trim().split(/\\s+/).length;
}).map((each) => each.textContent)"""
"""Names of tokens and chains, and what is said of them, in more lines than they have words."""
NARROW = """() => [...document.querySelectorAll("a, button, summary")]
  .filter((each) => each.checkVisibility() && !each.closest(".visually-hidden, .skip"))
  .filter((each) => {
    each.scrollIntoView({ block: "center" });
    const { left, top, width, height } = each.getBoundingClientRect();
    const hits = [-21, 21].map((y) => document.elementFromPoint(left + width / 2, top + height / 2 + y));
    return !hits.every((hit) => each.contains(hit));
  }).map((each) => each.textContent.trim())"""
"""What a finger misses that is 21 px off its middle."""
EXPLORED = """() => {
  const row = document.getElementById("transaction-row").content.firstElementChild.cloneNode(true);
  row.querySelector("a").hidden = false;
  row.querySelector("a").href = "#";
  document.querySelector("#transactions ul").append(row);
}"""
"""Shows a transaction that an explorer knows; those of the simulated chain have none."""


@pytest.mark.parametrize(
    ("phone", "price", "shown"),
    [
        (PHONE, LONG_PRICE, "1,000,000.000000000000000001 USDC"),
        (SMALL, LONG_PRICE, "1,000,000.000000000000000001 USDC"),
        (SMALL, PRECISE_PRICE, "0.012345678901234567 DAI"),
    ],
    ids=["390", "320", "320 precise"],
)
def test_no_number_breaks_on_a_phone(
    make_tab: Callable[..., Tab], phone: dict[str, object], price: dict[str, object], shown: str
) -> None:
    tab = make_tab(**phone)
    page = tab.open(order_price=price)
    expect(tab.pay_button).to_be_in_viewport(ratio=1)
    assert page.evaluate(BROKEN) == []
    assert page.locator(":is(#quote-amount, .pay-label) wbr").count() == 0
    expect(page.locator(".total")).to_have_text(shown)
    expect(page.locator("#change")).to_be_in_viewport(ratio=1)
    tab.inspect("long-price-phone")


@pytest.mark.parametrize("look", [{}, PHONE, MIDDLE, SMALL], ids=["1200", "390", "360", "320"])
@pytest.mark.parametrize("price", ENDLESS)
def test_the_largest_prices_stay_on_their_cards_to_the_last_digit(
    make_tab: Callable[..., Tab], look: dict[str, object], price: str
) -> None:
    """Found: the total ran over the card's edge, and the screen's."""
    tab = make_tab(**look)
    page = tab.open(order_price=ENDLESS[price])
    expect(tab.pay_button).to_be_visible()
    for summary in page.locator("#details > summary, .quote-more > summary").all():
        if summary.is_visible():
            summary.press("Enter")
    assert page.evaluate(OUTSIDE) == []
    for lines in page.evaluate(LINES):
        for above, below in pairwise(lines):
            assert re.search(r"\W$", above), f"{above} breaks in a word or a group of digits"
            assert re.match(r"\d{3}|[^\W\d]", below), f"{below} begins with what belongs to the line above"
    whole, exact = ENDLESS[price]["amount"], page.locator("#exact-amount").inner_text()
    digits = str(whole) + "00" if ENDLESS[price]["decimals"] == 0 else str(whole)
    for shown in (exact, page.locator(".total").inner_text()):
        assert re.sub(r"\D", "", shown) == digits
    assert page.locator("#copy-exact").get_attribute("value").replace(".", "") == str(whole)
    size = page.locator("#quote-amount").evaluate("(amount) => parseFloat(getComputedStyle(amount).fontSize)")
    assert size >= 14, "what breaks anyway need not be small"
    tab.inspect(f"endless-{price}")
    page.locator("#change").press("Enter")
    expect(page.locator("#networks")).to_be_visible()
    assert page.evaluate(OUTSIDE) == []


def test_a_phone_on_its_side_shows_the_button(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(**{**PHONE, "viewport": {"width": 844, "height": 390}})
    tab.open()
    expect(tab.pay_button).to_be_in_viewport(ratio=1)
    expect(tab.page.locator("#quote-total")).to_be_in_viewport(ratio=1)
    card, button = (tab.page.locator(each).bounding_box() for each in ("#review .quote", "#pay-button"))
    assert card is not None
    assert button is not None
    assert (card["x"], card["width"]) == (button["x"], button["width"])


def test_on_a_screen_enlarged_four_times_nothing_covers_the_rest(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(viewport={"width": 320, "height": 256})
    page = tab.open()
    expect(tab.pay_button).to_be_visible()
    assert page.locator("#pay-bar").evaluate("(bar) => getComputedStyle(bar).position") == "static"
    tab.inspect("enlarged")


@pytest.mark.parametrize(("width", "locale"), [(360, "en-GB"), (390, "de-DE"), (360, "ar")])
def test_letters_of_twice_the_size_lose_nothing(make_tab: Callable[..., Tab], width: int, locale: str) -> None:
    """Found: names of a few letters a line, amounts cut off, words over words, a bar over a third of the screen."""
    tab = make_tab(viewport={"width": width, "height": 740}, locale=locale)
    tab.page.add_init_script(ENLARGE)
    page = tab.open()
    expect(page.locator("#quote-total")).to_be_visible()
    assert page.locator("#pay-bar").evaluate("(bar) => getComputedStyle(bar).position") == "static"
    change, label = (page.locator(each).bounding_box() for each in ("#change", ".quote-pay p >> nth=0"))
    assert change is not None
    assert label is not None
    assert change["y"] >= label["y"] + label["height"]
    tab.inspect(f"twice-review-{width}")
    page.locator("#details > summary").press("Enter")
    said = page.locator(".item > div").first.bounding_box()
    assert said is not None
    assert said["width"] >= 256, "eight letters of this size"
    page.locator("#change").press("Enter")
    expect(page.locator("#networks")).to_be_visible()
    assert page.locator("#tokens").evaluate("(list) => list.scrollWidth <= list.clientWidth")
    assert page.evaluate(TORN) == []
    tab.inspect(f"twice-list-{width}")


@pytest.mark.parametrize("width", [320, 360])
def test_letters_of_twice_the_size_leave_a_short_payments_amounts_whole(
    make_tab: Callable[..., Tab], width: int
) -> None:
    """Found: "Bisher angekom" and "12,50 U", and a page of 398 px; "zurückgebe" and, in the next line, "n"."""
    tab = make_tab(**{**PHONE, "viewport": {"width": width, "height": 740}}, locale="de-DE")
    tab.page.add_init_script(ENLARGE)
    order_id = tab.shop.order()
    simulate(tab.shop.resources, order_id, Action.UNDERPAY)
    tab.shop.work(rounds=2)
    page = tab.visit(order_id)
    expect(page.locator("#banner dd").first).to_be_visible()
    expect(page.locator("#pay-button")).to_be_visible()
    assert page.evaluate(OUTSIDE) == []
    assert page.locator("#banner > p").evaluate("(text) => getComputedStyle(text).hyphens") == "auto"
    page.locator("#banner dl").scroll_into_view_if_needed()
    tab.inspect(f"twice-short-{width}")


def test_a_long_amount_leaves_the_name_whole(make_tab: Callable[..., Tab]) -> None:
    """Found: E, T and H, one under the other, beside 0.000000000285811 ETH."""
    tab = make_tab(viewport={"width": 360, "height": 740})
    page = tab.open(order_price={"currency": "USDC", "amount": 1, "decimals": 6})
    tab.list_tokens()
    expect(page.locator("#networks")).to_be_visible()
    assert page.evaluate(TORN) == []
    assert page.locator("#tokens").evaluate("(list) => list.scrollWidth <= list.clientWidth")


def test_a_thumb_hits_what_it_means(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(**PHONE)
    page = tab.open()
    expect(page.locator("#quote-total")).to_be_visible()
    page.get_by_text("Details", exact=True).click()
    assert page.evaluate(NARROW) == []
    page.locator("#change").press("Enter")
    expect(page.locator("#networks")).to_be_visible()
    assert page.evaluate(NARROW) == []


@pytest.mark.parametrize("action", [Action.EXPIRE, Action.PAY])
def test_a_thumb_hits_what_it_means_once_it_is_over(make_tab: Callable[..., Tab], action: Action) -> None:
    """Found: links to the merchant and to the block explorer were as high as their letters."""
    tab = make_tab(**SMALL)
    order_id = tab.shop.order()
    tab.shop.dress(order_id, support="help@tea.example")
    simulate(tab.shop.resources, order_id, Action.UNDERPAY if action is Action.EXPIRE else action)
    tab.shop.work(10, rounds=4)
    if action is Action.EXPIRE:
        simulate(tab.shop.resources, order_id, action)
    page = tab.visit(order_id)
    expect(page.locator("#outcome-title")).to_be_visible()
    page.evaluate(EXPLORED)
    assert page.evaluate(NARROW) == []
    tab.inspect(f"thumb-{action}")


def test_what_takes_the_focus_by_itself_has_no_frame(tab: Tab) -> None:
    """Found: a frame around each new heading, as around a button."""
    page = tab.open()
    tab.pay_button.press("Enter")
    title = page.get_by_role("heading", name="Payment sent")
    expect(title).to_be_focused()
    style = "(each) => getComputedStyle(each).outlineStyle"
    assert title.evaluate(style) == "none"
    page.keyboard.press("Tab")
    assert page.locator(":focus").evaluate(style) == "solid"


def test_a_long_description_is_folded(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab()
    page = tab.open(line_items=(LONG, {"title": "Pot", "quantity": 1, "description": "Clay"}))
    text = page.locator(".item-description").first
    folded = text.bounding_box()
    assert folded is not None
    assert folded["height"] <= 3 * 21 + 1
    assert page.locator(".more").count() == 1, "a short one is shown as it is"
    page.locator(".more summary").click()
    assert text.evaluate("(element) => element.scrollHeight <= element.clientHeight")
    tab.inspect("long-description")


def test_the_list_can_be_skipped_by_keyboard(tab: Tab) -> None:
    page = tab.open()
    tab.list_tokens()
    expect(page.get_by_role("button", name="Arbitrum")).not_to_have_count(0)
    skip = page.get_by_role("link", name="Skip the list")
    page.get_by_role("radio").first.focus()
    page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport(ratio=1)
    tab.inspect("skip-list")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("#devices > summary")).to_be_focused()


def test_in_a_systems_own_colours_no_text_touches_a_frame(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(forced_colors="active", **PHONE)
    order_id = tab.shop.order()
    simulate(tab.shop.resources, order_id, Action.PAY)
    tab.shop.work(10, rounds=4)
    page = tab.visit(order_id)
    for name in ("border-inline-start-width", "border-block-end-width"):
        style = f"(row) => getComputedStyle(row).getPropertyValue('{name}')"
        assert page.locator("#record .transaction").first.evaluate(style) == "0px"


def test_contact_and_number_are_said_once(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(**PHONE)
    order_id = tab.shop.order()
    tab.shop.dress(order_id, support="help@tea.example")
    simulate(tab.shop.resources, order_id, Action.UNDERPAY)
    tab.shop.work(rounds=2)
    simulate(tab.shop.resources, order_id, Action.EXPIRE)
    page = tab.visit(order_id)
    expect(page.get_by_role("heading", name="Payment incomplete")).to_be_visible()
    expect(page.get_by_text("help@tea.example").filter(visible=True)).to_have_count(1)
    number = page.get_by_text(order_id).filter(visible=True)
    expect(number).to_have_count(1)
    contact, row = page.locator("#contact").bounding_box(), number.bounding_box()
    assert contact is not None
    assert row is not None
    assert contact["y"] < row["y"], "the number is below, as the words say"


def test_without_scripts_a_phone_shows_what_the_words_point_at(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(java_script_enabled=False, **PHONE)
    page = tab.open()
    expect(page.locator("#needs-script time")).to_have_text(re.compile(r"^2 Mar 2026, 1\d:\d\d UTC$"))
    expect(page.locator("#devices").get_by_text(page.url, exact=True)).to_be_visible()


def test_a_disc_is_whole_before_its_picture_comes(tab: Tab) -> None:
    tab.expected.append("Failed to load resource")
    tab.page.route("**/icons*.svg", lambda route: route.abort())
    page = tab.open()
    corner = page.locator("#quote-avatar .corner")
    expect(corner).to_have_count(1)
    drawn = "(each) => { const style = getComputedStyle(each); return [style.backgroundColor, style.borderTopWidth]; }"
    assert corner.evaluate(drawn) == ["rgba(0, 0, 0, 0)", "0px"]
