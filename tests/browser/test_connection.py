"""Paying while requests or answers are lost: nothing is paid twice, and the page says what it knows."""

from __future__ import annotations

from playwright.sync_api import Route, expect

from tests.browser.conftest import Tab
from tests.browser.customer import come_back

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
