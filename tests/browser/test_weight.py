"""How little a visit takes: bytes and requests as Chromium counts them, and nothing to wait for before a paint."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from api.assets.files import FOLDER
from api.assets.modules import list_names
from api.domain.simulation import Action
from api.services.simulator.actions import simulate
from tests.browser.conftest import Tab
from tests.browser.meter import reload_page, visit_page
from tests.browser.shop import Shop

FIRST_VISIT_BYTES, FIRST_VISIT_REQUESTS = 35_000, 5
RELOAD_BYTES, RELOAD_REQUESTS = 2_750, 3
"""The ids of orders and quotes are random, and become shorter or longer by some bytes."""
PAGE_BYTES = 14_000
"""Below 14,600, ten segments of 1,460 bytes: what a server sends before it waits to hear of them (RFC 6928)."""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint').length"


@pytest.fixture
def customer(browser: Browser) -> Iterator[Page]:
    """A new customer's browser, which keeps what it may; one whose requests are looked at keeps nothing."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def test_a_first_visit_and_a_reload_are_light(customer: Page, shop: Shop) -> None:
    first, _ = visit_page(customer, shop.url(shop.order()))
    print(f"first visit: {first}")
    assert first.n_bytes <= FIRST_VISIT_BYTES
    assert len(first.crossings) <= FIRST_VISIT_REQUESTS
    again, _ = reload_page(customer)
    print(f"reload: {again}")
    assert again.n_bytes <= RELOAD_BYTES
    assert len(again.crossings) <= RELOAD_REQUESTS
    assert not [each for each in again.crossings if "static/" in each.name]


def test_another_order_brings_no_file_again(customer: Page, shop: Shop) -> None:
    visit_page(customer, shop.url(shop.order()))
    second, _ = visit_page(customer, shop.url(shop.order()))
    assert not [each for each in second.crossings if "static/" in each.name]


def test_the_page_itself_comes_in_the_first_flight(customer: Page, shop: Shop) -> None:
    url = shop.url(shop.order())
    visit, _ = visit_page(customer, url)
    (page,) = [each for each in visit.crossings if each.url == url]
    assert page.n_bytes <= PAGE_BYTES


def test_a_page_that_was_kept_is_not_shown_for_another_state(customer: Page, shop: Shop) -> None:
    order_id = shop.order()
    visit_page(customer, shop.url(order_id))
    simulate(shop.resources, order_id, Action.EXPIRE)
    response = customer.reload()
    assert response is not None
    assert response.status == 200
    expect(customer.get_by_role("heading", name="This order has expired")).to_be_visible()


def test_going_back_shows_what_holds_now(customer: Page, shop: Shop) -> None:
    """A browser shows the page that it kept, without asking; the page's scripts ask at once where the order stands."""
    order_id = shop.order()
    visit_page(customer, shop.url(order_id))
    customer.goto("about:blank")
    simulate(shop.resources, order_id, Action.EXPIRE)
    customer.go_back()
    expect(customer.get_by_role("heading", name="This order has expired")).to_be_visible()


def test_what_happens_while_the_page_travels_is_not_missed(tab: Tab) -> None:
    """The page says which version of the order it shows; the stream begins with another one."""

    def happen(route: Route) -> None:
        simulate(tab.shop.resources, tab.order_id, Action.EXPIRE)
        route.continue_()

    tab.expected.append("Failed to load resource")  # a price may be asked for before the page hears of it
    tab.page.route("**/events", happen, times=1)
    page = tab.open()
    expect(page.get_by_role("heading", name="This order has expired")).to_be_visible()


def test_the_page_alone_is_painted(tab: Tab) -> None:
    """Nothing but the page itself has come: no script, no stylesheet, no icon."""
    tab.expected.append("Failed to load resource")
    held = []
    tab.page.route("**/static/**", lambda route: held.append(route))
    tab.page.goto(tab.shop.url(tab.shop.order()), wait_until="commit")
    tab.page.wait_for_function(PAINTED)
    expect(tab.page.locator(".merchant-name")).to_be_visible()
    assert tab.page.evaluate("() => getComputedStyle(document.body).margin") == "0px"
    assert "main-en.js" in {re.sub(r"\.\w{16}\.", ".", route.request.url.rpartition("/")[2]) for route in held}
    for route in held:
        route.abort()


def test_no_name_of_the_joined_script_hides_one_of_the_browser(customer: Page) -> None:
    """Modules had names of their own; joined, each name holds in all of them."""
    names = [name for path in (FOLDER / "payment").rglob("*.js") for name in list_names(path)]
    assert len(names) > 100
    assert customer.evaluate("(names) => names.filter((name) => name in window)", names) == []


def test_the_code_is_fetched_by_who_looks_at_it(tab: Tab) -> None:
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    page = tab.open()
    expect(tab.pay_button).to_be_visible()
    assert not [url for url in asked if url.endswith("code.svg")]
    with page.expect_response("**/code.svg") as answer:
        page.get_by_text("Pay on your phone").click()
    assert (answer.value.status, answer.value.headers["content-type"]) == (200, "image/svg+xml; charset=utf-8")


def test_a_page_whose_script_did_not_come_says_so(tab: Tab) -> None:
    tab.expected.append("Failed to load resource")
    tab.page.route("**/main-*.js", lambda route: route.abort())
    page = tab.open()
    expect(page.get_by_role("heading", name="Still loading")).to_be_visible()
    expect(page.get_by_text("JavaScript").filter(visible=True)).to_have_count(0)
