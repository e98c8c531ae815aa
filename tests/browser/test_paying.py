"""Paying on the page, in a real browser, from the choice of a token to the way back to the shop."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from api.domain.orders import OrderStatus
from tests.browser.conftest import Tab
from tests.browser.customer import come_back

HASH = re.compile("^0x[0-9a-f]{64}$")
CHECKING = "We are checking whether your payment went out"
LISTEN = """() => {
  window.said = [];
  const region = document.getElementById("announcer");
  new MutationObserver(() => window.said.push(region.textContent)).observe(region, { childList: true });
}"""
"""Notes what is said to people who listen."""
PLACES = """() => [...document.querySelectorAll("main *, .bill *")].filter((each) => !each.closest(".over, svg *"))
  .filter((each) => each.checkVisibility()).map((each) => {
    const { left, top, width, height } = each.getBoundingClientRect();
    return [each.tagName, left, top, each.id === "held-bar" || each.role === "timer" ? 0 : width, height];
  })"""
"""Where everything stands; what is in an icon has no size before its sprite has come."""
IS_PASSED_BY_TAPS = """(notice) => {
  const { left, top, width, height } = notice.getBoundingClientRect();
  return !notice.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""
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


def test_a_reload_does_not_offer_to_pay_twice(tab: Tab) -> None:
    page = tab.open()
    tab.pay_button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    expect(page.get_by_role("heading", name="Choose how to pay")).to_be_hidden()
    tab.work()
    expect(page.get_by_role("heading", name="Payment on its way")).to_be_visible()


def test_a_lost_answer_is_not_called_a_failure(tab: Tab) -> None:
    page = tab.open()
    button = tab.pay_button
    expect(button).to_be_visible()
    tab.expected.append("Failed to load resource")

    def take_and_lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/pay", take_and_lose)
    button.click()
    expect(page.get_by_role("heading", name=CHECKING)).to_be_focused()
    expect(page.get_by_text("Don't pay again: we are checking.").first).to_be_visible()
    expect(page.get_by_text("goes on without it").filter(visible=True)).to_have_count(0)
    expect(page.locator("#steps")).to_be_hidden()
    tab.inspect("answer-lost")
    tab.work()
    expect(page.get_by_role("heading", name="Payment on its way")).to_be_visible()


def test_a_payment_that_never_left_is_given_up_after_a_minute(tab: Tab) -> None:
    tab.context.clock.install()
    page = tab.open()
    button = tab.choose("Base", "USDC")
    tab.expected.append("Failed to load resource")
    page.route("**/pay", lambda route: route.abort())
    button.click()
    expect(page.get_by_role("heading", name=CHECKING)).to_be_visible()
    page.clock.run_for(61_000)
    expect(page.locator("#problem").get_by_text("Look into your wallet before you pay again.")).to_be_visible()
    tab.inspect("payment-lost")
    page.unroute("**/pay")
    tab.choose("Base", "USDC").click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()


def test_a_payment_whose_request_was_lost_is_sent_again_and_taken_once(tab: Tab) -> None:
    page = tab.open()
    button = tab.pay_button
    expect(button).to_be_visible()
    tab.expected.append("Failed to load resource")
    page.evaluate(LISTEN)
    page.route("**/status*", lambda route: route.abort())
    come_back(page)
    expect(page.locator("#offline")).to_be_visible()
    again: list[Route] = []
    page.route("**/pay", lambda route: again.append(route))
    page.route("**/pay", lambda route: route.abort(), times=1)
    with page.expect_event("requestfailed"):
        button.click()
    expect(page.get_by_role("heading", name=CHECKING)).to_be_visible()
    come_back(page)
    expect(page.locator("#trouble")).to_be_visible()
    expect(page.locator("#offline")).to_be_hidden()
    page.unroute("**/status*")
    with page.expect_response("**/pay") as taken:
        if not again:
            page.wait_for_event("request", lambda request: request.url.endswith("/pay"))
        again[0].continue_()
    assert taken.value.status == 200
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    tab.work(10, rounds=2)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    assert tab.shop.state(tab.order_id).amount_received == 42_500_000
    said = page.evaluate("() => window.said")
    assert "No connection just now." in said
    assert "Connected again." not in said, "another notice took its place"


def test_offline_nothing_is_sent_and_nothing_is_paid_alone_later(tab: Tab) -> None:
    """Found: "Payment sent" for a minute, of a request that had not left; then, paid unasked once online."""
    page = tab.open()
    button = tab.pay_button
    expect(button).to_be_visible()
    tab.expected.append("Failed to load resource")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/pay") else None)
    places = page.evaluate(PLACES)
    tab.context.set_offline(True)
    expect(page.locator("#offline")).to_be_visible()
    shown = page.get_by_text("No connection just now.").and_(page.locator(":not(#announcer)"))
    expect(shown.filter(visible=True)).to_have_count(1)
    expect(page.get_by_role("status").first).to_contain_text("No connection just now.")
    assert page.evaluate(PLACES) == places, "nothing moves"
    page.locator(".quote-more > summary").scroll_into_view_if_needed()
    assert page.locator("#offline").evaluate(IS_PASSED_BY_TAPS)
    button.click()
    said = page.locator("#problem").get_by_text("You were offline, so nothing was sent.")
    expect(said).to_be_visible()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_hidden()
    expect(page.get_by_text("goes on without it").filter(visible=True)).to_have_count(0)
    tab.inspect("offline-pay")
    tab.context.set_offline(False)
    with page.expect_response("**/status"):
        come_back(page)
    expect(page.locator("#offline")).to_be_hidden()
    expect(page.get_by_role("status").first).to_have_text("Connected again.")
    expect(said).to_be_visible()
    assert asked == []
    button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    assert len(asked) == 1


def test_that_nothing_was_sent_stays_said_when_the_price_could_not_be_renewed(tab: Tab) -> None:
    """Found: after a minute offline the page forgot that somebody had wanted to pay."""
    tab.context.clock.install()
    page = tab.open()
    expect(tab.pay_button).to_be_visible()
    tab.expected.append("Failed to load resource")
    tab.context.set_offline(True)
    tab.pay_button.click()
    page.clock.run_for(65_000)
    problem = page.locator("#problem")
    expect(problem).to_contain_text("We could not reach the payment service.")
    tab.context.set_offline(False)
    expect(tab.pay_button).to_be_visible()
    expect(problem).to_contain_text("Tap Pay again when you are online")
    expect(page.get_by_role("heading", name="Payment sent")).to_be_hidden()


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


def test_what_could_not_be_loaded_is_loaded_once_there_is_a_connection(tab: Tab) -> None:
    page = tab.open()
    expect(tab.pay_button).to_be_visible()
    tab.expected.append("Failed to load resource")
    tab.context.set_offline(True)
    page.get_by_role("button", name="Change").press("Enter")
    expect(page.locator("#problem").get_by_text("We could not reach the payment service.")).to_be_visible()
    expect(page.get_by_text("Network", exact=True)).to_be_hidden()
    tab.context.set_offline(False)
    expect(page.get_by_role("radio", name="Arbitrum", exact=True)).to_be_visible()
    expect(page.locator("#problem")).to_be_hidden()


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


def test_follows_along_when_news_cannot_be_had(tab: Tab) -> None:
    page = tab.open()
    tab.pay_button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    tab.expected.append("Failed to load resource")
    tab.context.set_offline(True)
    expect(page.locator("#trouble").get_by_text("Your payment goes on without it")).to_be_visible()
    tab.inspect("offline")
    tab.context.set_offline(False)
    tab.work(10, rounds=2)
    come_back(page)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    expect(page.locator("#trouble")).to_be_hidden()


def test_the_list_comes_whole(tab: Tab) -> None:
    """Found: the networks came above tokens that could be tapped, which moved away from a tap."""
    held: list[Route] = []
    tab.page.route("**/tokens*", lambda route: held.append(route))
    page = tab.open()
    expect(tab.pay_button).to_be_visible()
    page.get_by_role("button", name="Change").press("Enter")
    expect(page.get_by_text("Loading networks and tokens …")).to_be_visible()
    expect(page.locator(".token").filter(visible=True)).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.get_by_role("radio", name="Base", exact=True)).to_be_visible()
    expect(page.locator("#tokens-loading")).to_be_hidden()
    page.get_by_role("searchbox").fill("shib")
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^\d+ ways? to pay\.$"))
    expect(page.get_by_role("button", name=re.compile("^SHIB ")).first).to_be_visible()


def test_a_list_that_failed_is_searched_once_it_is_there(tab: Tab) -> None:
    """Who types at once must not hear that nothing matches."""
    tab.expected.append("Failed to load resource")
    page = tab.open()
    expect(tab.pay_button).to_be_visible()
    tab.page.route("**/tokens*", lambda route: route.abort(), times=1)
    page.get_by_role("button", name="Change").press("Enter")
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    page.get_by_role("searchbox").fill("shib")
    expect(page.get_by_text("Nothing matches.")).to_be_hidden()
    again.press("Enter")
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^\d+ ways? to pay\.$"))
    expect(page.get_by_role("button", name=re.compile("^SHIB ")).first).to_be_visible()
