"""Prices on the page: held, refreshed, changed with consent, refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from api.domain.orders import OrderStatus
from api.storage.tables import PaymentOrder
from tests.browser.conftest import Tab

MINUTE_MS = 61_000
ARBITRUM = 42161


@pytest.fixture
def moving_market(tab: Tab) -> Iterator[None]:
    """Put the prices back after the test."""
    yield
    tab.shop.restore_price()


def amount(page: Page) -> str:
    return page.locator("#quote-amount").inner_text()


def test_the_end_of_an_order_is_counted_in_sight(tab: Tab) -> None:
    order_id = tab.shop.order()
    with tab.shop.resources.database.write() as session:
        session.get_one(PaymentOrder, order_id).expires_at = tab.shop.clock.now() + timedelta(seconds=125)
    page = tab.visit(order_id)
    expect(page.locator("#ends")).to_have_text(re.compile(r"^Order ends in (2:0\d|1:5\d)$"))
    page.locator("#held").scroll_into_view_if_needed()
    tab.inspect("order-ends")


@pytest.mark.rule("expiry.3", "expiry.4")
def test_the_same_price_is_renewed_in_passing(tab: Tab) -> None:
    tab.context.clock.install()
    page = tab.open()
    button = tab.choose("Arbitrum", "ETH")
    button.focus()
    before = amount(page)
    expect(page.locator("#held-text")).to_have_text("60 s")
    page.clock.run_for(20_000)
    expect(page.locator("#held-text")).to_have_text("40 s")
    with page.expect_response("**/quote"):
        page.clock.run_for(41_000)
    page.clock.run_for(100)
    expect(page.get_by_role("status").first).to_have_text(f"Price refreshed. It is the same: {before}.")
    expect(button).to_be_focused()
    assert amount(page) == before
    expect(page.locator("#held-text")).to_have_text("60 s")


@pytest.mark.usefixtures("moving_market")
def test_a_higher_price_needs_consent(tab: Tab) -> None:
    tab.context.clock.install()
    tab.shop.move_price(ARBITRUM, selling=10**18)
    page = tab.open()
    button = tab.choose("Arbitrum", "ETH")
    button.focus()
    before = amount(page)
    tab.shop.restore_price()
    page.clock.run_for(MINUTE_MS)
    change = page.get_by_role("group", name="The price went up")
    expect(change).to_be_focused()
    expect(button).to_be_hidden()
    now = amount(page)
    assert now != before
    expect(change).to_contain_text(before)
    expect(change).to_contain_text(now)
    page.clock.run_for(100)
    expect(page.get_by_role("status").first).to_have_text(
        f"The price changed from {before} to {now}. Accept the new price to go on."
    )
    tab.inspect("price-changed")
    page.get_by_role("button", name="Accept new price").click()
    expect(button).to_be_focused()
    expect(button).to_have_text(f"Pay {now} with the test wallet")
    expect(change).to_be_hidden()
    button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()


@pytest.mark.usefixtures("moving_market")
def test_a_lower_price_is_taken_without_a_question(tab: Tab) -> None:
    tab.context.clock.install()
    page = tab.open()
    button = tab.choose("Arbitrum", "ETH")
    button.focus()
    before = amount(page)
    tab.shop.move_price(ARBITRUM, selling=10**18)
    page.clock.run_for(MINUTE_MS)
    expect(page.locator("#quote-amount")).not_to_have_text(before)
    now = amount(page)
    page.clock.run_for(100)
    expect(page.get_by_role("status").first).to_have_text(f"The price went down from {before} to {now}.")
    expect(page.get_by_role("group", name="The price went up")).to_be_hidden()
    expect(button).to_be_focused()
    expect(button).to_have_text(f"Pay {now} with the test wallet")
    button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()


@pytest.mark.usefixtures("moving_market")
def test_an_unaccepted_price_is_compared_with_the_one_agreed_to(tab: Tab) -> None:
    tab.context.clock.install()
    tab.shop.move_price(ARBITRUM, selling=10**18)
    page = tab.open()
    button = tab.choose("Arbitrum", "ETH")
    before = amount(page)
    tab.shop.restore_price()
    page.clock.run_for(MINUTE_MS)
    expect(page.get_by_role("group", name="The price went up")).to_be_visible()
    tab.shop.move_price(ARBITRUM, selling=10**18)
    page.clock.run_for(MINUTE_MS)
    expect(button).to_have_text(f"Pay {before} with the test wallet")
    expect(page.get_by_role("group", name="The price went up")).to_be_hidden()


@pytest.mark.rule("expiry.4")
def test_a_price_that_ran_out_at_the_server_is_not_paid(tab: Tab) -> None:
    page = tab.open()
    button = tab.choose("Base", "USDC")
    tab.expected.append("409")
    tab.shop.clock.advance(seconds=90)
    with page.expect_response("**/quote") as renewed:
        button.click()
    assert renewed.value.ok
    expect(button).to_be_enabled()
    expect(button).to_have_text("Pay 42.50 USDC with the test wallet")
    assert tab.shop.state(tab.order_id).status == OrderStatus.CREATED
    button.press("Enter")
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()


def test_prices_rest_after_ten_minutes(tab: Tab) -> None:
    tab.context.clock.install()
    page = tab.open()
    button = tab.choose("Base", "USDC")
    for _ in range(10):
        with page.expect_response("**/quote"):
            page.clock.run_for(MINUTE_MS)
        expect(page.locator("#held-text")).to_have_text("60 s")
    page.clock.run_for(MINUTE_MS)
    refresh = page.get_by_role("button", name="Get a new price")
    expect(refresh).to_be_visible()
    expect(button).to_be_hidden()
    tab.inspect("price-paused")
    refresh.click()
    expect(button).to_be_focused()


def test_says_what_to_do_where_no_route_leads(tab: Tab) -> None:
    page = tab.open(order_price={"currency": "USDC", "amount": 10**24, "decimals": 6})
    tab.expected.append("409")
    tab.list_tokens()
    page.get_by_role("radio", name="Polygon").check(force=True)
    page.get_by_role("button", name=re.compile("^POL ")).click()
    problem = page.locator("#problem")
    expect(problem).to_be_focused()
    expect(problem).to_contain_text("Choose another token or network.")
    expect(tab.pay_button).to_be_hidden()
    tab.inspect("no-route")
    page.get_by_role("button", name="Choose another token").click()
    expect(problem).to_be_hidden()
    expect(page.get_by_role("heading", name="Choose how to pay")).to_be_visible()
    tab.choose("Base", "USDC")


def test_what_takes_long_is_paid_by_who_has_said_so(tab: Tab) -> None:
    """Found: a way of nine days had the button of any other."""

    def slow_down(route: Route) -> None:
        answer = route.fetch()
        text = "I know that this takes about 9 days, and want to pay so all the same"
        route.fulfill(json={**answer.json(), "slow_text": text})

    tab.page.route("**/quote", slow_down)
    page = tab.open()
    button = tab.choose("Base", "ETH")
    box = page.get_by_role("checkbox", name=re.compile("about 9 days"))
    tab.inspect("slow-way")
    button.click()
    expect(box).to_be_focused()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_hidden()
    box.check()
    button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()


def test_escape_closes_the_list(tab: Tab) -> None:
    page = tab.open()
    tab.list_tokens()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Review and pay")).to_be_visible()


def test_a_price_that_cannot_be_had_is_asked_for_again(tab: Tab) -> None:
    tab.expected.append("Failed to load resource")
    tab.page.route("**/quote", lambda route: route.abort())
    page = tab.open()
    tab.list_tokens()
    page.get_by_role("button", name=re.compile("^ETH ")).first.click()
    expect(page.locator("#problem")).to_contain_text("Check your connection and try again.")
    tab.inspect("no-connection")
    page.unroute("**/quote")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name=re.compile("with the test wallet"))).to_be_visible()
    expect(page.locator("#problem")).to_be_hidden()


def test_the_answer_for_a_token_left_behind_is_dropped(tab: Tab) -> None:
    page = tab.open()
    tab.list_tokens()
    held: list[Route] = []
    page.route("**/quote", lambda route: route.continue_() if held else held.append(route))
    page.get_by_role("button", name=re.compile("^ETH ")).first.click()
    expect(page.get_by_role("heading", name="Review and pay")).to_be_focused()
    tab.inspect("quote-loading")
    page.get_by_role("button", name="Change").click()
    button = tab.choose("Base", "USDC")
    held[0].continue_()
    page.wait_for_load_state("networkidle")
    expect(button).to_have_text("Pay 42.50 USDC with the test wallet")


def test_tokens_that_cannot_be_listed_are_asked_for_again(tab: Tab) -> None:
    tab.expected.append("Failed to load resource")
    tab.page.route("**/tokens", lambda route: route.abort())
    tab.page.route("**/options", lambda route: route.abort())
    page = tab.open()
    expect(page.locator("#problem")).to_be_visible()
    page.unroute("**/tokens")
    page.get_by_role("button", name="Try again").click()
    tab.choose("Base", "USDC")


def test_everything_is_searched_over_all_networks(tab: Tab) -> None:
    page = tab.open()
    tab.list_tokens()
    page.get_by_role("radio", name="Base", exact=True).check(force=True)
    search, rows = page.get_by_role("searchbox", name="Search tokens"), page.locator(".token")
    search.fill("0x833589FCD6")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("USDC Base")
    search.fill("pol")
    expect(page.get_by_role("button", name=re.compile("^POL Polygon"))).to_be_visible()
    search.fill("matic")
    expect(page.get_by_role("button", name=re.compile("^POL Polygon"))).to_be_visible()
    search.fill("arbitrum dai")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Arbitrum")
    search.fill("\uff35\uff33\uff24\uff23 base")  # as some keyboards write it
    expect(rows.first).to_contain_text("USDC Base")
    search.fill("ether")
    expect(rows.first).to_contain_text("ETH")
    search.fill("eth base")
    expect(rows.first).to_contain_text(re.compile(r"ETH\s*Base\s*Ether\b"))
    for word, token in (("bitcoin", "cbBTC"), ("dollar", "USDC"), ("euro", "EURC"), ("stablecoin", "DAI")):
        search.fill(word)
        expect(rows.filter(has_text=token).first).to_be_visible()
    search.fill("no such coin")
    expect(page.locator("#no-match")).to_contain_text(re.compile("choose another network: .*Polygon"))
    tab.inspect("no-match")


def test_without_prices_the_list_is_there_still(tab: Tab) -> None:
    tab.expected.append("Failed to load resource")
    tab.page.route("**/options", lambda route: route.abort())
    page = tab.open()
    expect(page.get_by_role("heading", name="Choose how to pay")).to_be_visible()
    expect(page.locator("#problem")).to_be_hidden()
    tab.choose("Arbitrum", "ETH")
