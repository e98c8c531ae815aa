"""The merchant's look in a real browser: its colours, logo, contact, items with prices, and the summary on a phone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from api.checkout_page.look.accent import make_dark_palette, make_light_palette
from tests.browser.conftest import Tab
from tests.browser.motion import end_motion
from tests.support.pictures import make_png

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
UGLY = ("#ffff00", "#ffffff", "#000000", "#00ff00", "#777777", "#ff00ff")
PHONES = ({"width": 390, "height": 844}, {"width": 320, "height": 640})
PRICED: tuple[Mapping[str, Any], ...] = (
    {
        "title": "Darjeeling, first flush",
        "quantity": 2,
        "description": "100 g, whole leaf, picked in March",
        "unit_price": {"amount": 1075, "decimals": 2},
    },
    {"title": "Teapot", "quantity": 1, "unit_price": {"amount": 21_000_000, "decimals": 6, "currency": "USDC"}},
)
COVERED = """
() => [...document.querySelectorAll("#tokens .token")].flatMap((row) => {
  const boxes = (names) => [...row.querySelectorAll(names)].flatMap((each) => [...each.getClientRects()]);
  const ends = boxes(".token-amount, .token-price");
  const isOver = (one) => (two) =>
    one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom;
  return boxes(".token-symbol, .token-chain, .mark, .token-name").some((each) => ends.some(isOver(each)))
    ? [row.innerText] : [];
})
"""
LONG = "Ōtsuka & Söhne Donaudampfschifffahrtsgesellschaft Tea Merchants of Darjeeling, Assam and Uji, est. 1842"


def visit_dressed(tab: Tab, *, logo: bytes | None = None, look: Mapping[str, str], **order: Any) -> Page:
    order_id = tab.shop.order(**order)
    tab.shop.dress(order_id, logo=logo, **look)
    return tab.visit(order_id)


def colour_of(page: Page, selector: str, name: str) -> str:
    """Return a colour as ``#rrggbb``."""
    found: str = page.locator(selector).evaluate(f"(element) => getComputedStyle(element)['{name}']")
    return "#" + bytes(int(each) for each in found[found.index("(") + 1 : -1].split(",")[:3]).hex()


def test_the_page_wears_the_merchants_look(tab: Tab) -> None:
    look = {"display_name": "Kyoto Tea House", "accent_color": "#0a7d5a", "support": "help@tea.example"}
    page = visit_dressed(tab, logo=make_png(), look=look, line_items=PRICED)
    expect(page.locator(".merchant-name")).to_have_text("Kyoto Tea House")
    expect(page).to_have_title("Pay Kyoto Tea House")
    logo = page.locator(".merchant img")
    assert logo.evaluate("(image) => image.naturalWidth") == 96
    assert "/brand/" in str(logo.get_attribute("src"))
    contact = page.locator("#support").get_by_role("link", name="help@tea.example")
    expect(contact).to_have_attribute("href", f"mailto:help@tea.example?subject=Order%20{tab.order_id}")
    expect(tab.pay_button).to_be_visible()
    inspect_in_each_scheme(tab, "look")
    for scheme, palette in zip(SCHEMES, (make_light_palette("#0a7d5a"), make_dark_palette("#0a7d5a")), strict=True):
        page.emulate_media(color_scheme=scheme)
        page.mouse.move(0, 0)
        end_motion(page)
        assert colour_of(page, "#pay-button", "backgroundColor") == palette.fill
        assert colour_of(page, "#pay-button", "color") == palette.on_fill
        tab.pay_button.hover()
        end_motion(page)
        assert colour_of(page, "#pay-button", "backgroundColor") == palette.fill_deep


@pytest.mark.parametrize("colour", UGLY)
def test_no_colour_makes_the_page_illegible(make_tab: Callable[..., Tab], colour: str) -> None:
    tab = make_tab(viewport=PHONES[0])
    page = visit_dressed(tab, look={"accent_color": colour, "support": "https://tea.example/help"})
    expect(tab.pay_button).to_be_visible()
    inspect_in_each_scheme(tab, f"ugly-{colour[1:]}")
    tab.pay_button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    inspect_in_each_scheme(tab, f"ugly-{colour[1:]}-sent")


def inspect_in_each_scheme(tab: Tab, name: str) -> None:
    """Inspect the page as it stands by day and by night: that changes its colours and nothing else."""
    grounds = set()
    for scheme in SCHEMES:
        tab.page.emulate_media(color_scheme=scheme)
        grounds.add(colour_of(tab.page, "body", "backgroundColor"))
        tab.inspect(f"{name}-{scheme}")
    assert len(grounds) == len(SCHEMES)


def test_a_broken_logo_gives_way_to_the_letter(tab: Tab) -> None:
    tab.expected.append("404")
    tab.page.route("**/brand/*.png", lambda route: route.fulfill(status=404, body=""))
    page = visit_dressed(tab, logo=make_png(), look={"display_name": "Kyoto Tea House"})
    expect(page.locator(".merchant .avatar")).to_have_text("K")
    expect(page.locator(".merchant img")).to_have_count(0)


def test_without_a_look_the_page_has_its_own(tab: Tab) -> None:
    page = tab.open()
    expect(page.locator("#support")).to_have_count(0)
    expect(page.locator(".merchant img")).to_have_count(0)
    assert page.locator("link[href*='/brand/']").count() == 0
    expect(tab.pay_button).to_be_visible()
    end_motion(page)
    assert colour_of(page, "#pay-button", "backgroundColor") == "#3346d3"


def test_help_on_the_web_opens_beside_the_payment(tab: Tab) -> None:
    page = visit_dressed(tab, look={"support": "https://tea.example/help?a='b'&c=<d>".replace("<d>", "d")})
    link = page.locator("#support").get_by_role("link", name="tea.example")
    expect(link).to_have_attribute("href", "https://tea.example/help?a='b'&c=d")
    expect(link).to_have_attribute("target", "_blank")
    expect(link).to_have_attribute("rel", "noopener noreferrer")


def test_items_say_what_they_cost(tab: Tab) -> None:
    page = visit_dressed(tab, look={}, line_items=PRICED)
    first, second = page.locator(".item").all()
    expect(first.locator(".item-total")).to_have_text("21.50 USDC")
    expect(first.locator(".item-quantity")).to_have_text("Quantity 2 · 10.75 USDC each")
    expect(second.locator(".item-total")).to_have_text("21.00 USDC")
    expect(second.locator(".item-quantity")).to_have_text("Quantity 1")
    expect(page.locator(".sum")).to_contain_text("42.50 USDC")
    tab.inspect("items-priced")


def expect_way_on_first_screen(tab: Tab) -> None:
    """Without scrolling, the way that is chosen already can be read as a whole, changed and paid."""
    page = tab.page
    expect(page.get_by_role("heading", name="Review and pay")).to_be_in_viewport(ratio=1)
    expect(tab.pay_button).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Change")).to_be_in_viewport(ratio=1)
    expect(page.locator(".quote-pay")).to_be_in_viewport(ratio=1)
    assert page.evaluate("() => window.scrollY") == 0
    bar = page.locator("#pay-bar").bounding_box()
    assert bar is not None
    for part in (".quote-pay", "#quote-total"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= bar["y"], "nothing lies over it"


@pytest.mark.parametrize("phone", PHONES, ids=lambda phone: str(phone["width"]))
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_on_a_phone_the_ways_to_pay_are_on_the_first_screen(
    make_tab: Callable[..., Tab], phone: dict[str, int], scripts: bool
) -> None:
    tab = make_tab(viewport=phone, has_touch=True, java_script_enabled=scripts)
    look = {"display_name": "Kyoto Tea House", "accent_color": "#0a7d5a"}
    page = visit_dressed(tab, logo=make_png(), look=look, line_items=PRICED)
    expect(page.get_by_text("Teapot")).to_be_hidden()
    expect(page.locator(".total")).to_be_in_viewport()
    main = page.locator("#checkout").bounding_box()
    assert main is not None
    assert main["y"] <= 96, "the summary is one line"
    if scripts:
        expect_way_on_first_screen(tab)
        tab.inspect(f"folded-{phone['width']}")
        tab.list_tokens()
        expect(page.get_by_role("heading", name="Choose how to pay")).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("radio", name="Base")).to_be_in_viewport(ratio=1)
        assert page.evaluate(COVERED) == [], "no text lies over another"
        tab.inspect(f"listed-{phone['width']}")
    page.get_by_text("Show details").tap()
    expect(page.get_by_text("Teapot")).to_be_visible()
    expect(page.get_by_text("Hide details")).to_be_visible()
    expect(page.get_by_text("Show details")).to_be_hidden()
    if scripts:
        tab.inspect(f"unfolded-{phone['width']}")
    page.get_by_text("Hide details").tap()
    expect(page.get_by_text("Teapot")).to_be_hidden()


def test_the_details_open_by_keyboard(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(viewport=PHONES[0])
    page = tab.open()
    expect(tab.pay_button).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(".details-toggle")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Teapot")).to_be_visible()
    page.keyboard.press("Space")
    expect(page.get_by_text("Teapot")).to_be_hidden()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_on_a_desktop_the_details_are_always_open(make_tab: Callable[..., Tab], scripts: bool) -> None:
    page = make_tab(java_script_enabled=scripts).open()
    expect(page.get_by_text("Teapot")).to_be_visible()
    expect(page.get_by_text("Show details")).to_be_hidden()
    expect(page.get_by_text("Hide details")).to_be_hidden()
    page.set_viewport_size(PHONES[0])
    expect(page.get_by_text("Teapot")).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(page.get_by_text("Teapot")).to_be_visible()


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_no_name_and_no_amount_breaks_the_layout(make_tab: Callable[..., Tab], direction: str) -> None:
    tab = make_tab(viewport=PHONES[1])
    price = {"currency": "DAI", "amount": 123_456_789_012_345_678_901, "decimals": 18}
    items = (
        {"title": LONG, "quantity": 1, "unit_price": {"amount": 10**20, "decimals": 18}},
        {"title": "W" * 200, "quantity": 1_000_000, "unit_price": {"amount": 23_456_789_012_345, "decimals": 18}},
        {"title": "Rest", "quantity": 1, "unit_price": {"amount": 678_901, "decimals": 18}},
    )
    page = visit_dressed(tab, logo=make_png(), look={"display_name": LONG[:100]}, order_price=price, line_items=items)
    page.evaluate("(direction) => { document.documentElement.dir = direction; }", direction)
    tab.inspect(f"long-{direction}")
    toggle, total = (page.locator(each).bounding_box() for each in (".details-toggle", ".total"))
    assert toggle is not None
    assert total is not None
    assert total["y"] >= toggle["y"] + toggle["height"], "a long amount has a line of its own"
    page.locator(".details-toggle").click()
    tab.inspect(f"long-{direction}-open")
    for number in page.locator(".bill .number").all():
        box = number.bounding_box()
        assert box is not None
        lines = number.evaluate("(element) => element.getClientRects().length")
        assert lines == 1 or "endless" in str(number.get_attribute("class"))
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320


@pytest.mark.parametrize(
    "name", ["</script><script>window.hacked = 1</script>", "'\"><img src=x onerror=window.hacked=1>", "{{ 7 * 7 }}"]
)
def test_no_name_becomes_markup(tab: Tab, name: str) -> None:
    page = visit_dressed(tab, look={"display_name": name})
    expect(page.locator(".merchant-name")).to_have_text(name)
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("script").count() == 1
