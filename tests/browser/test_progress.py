"""How a payment is followed: its stages and their times, the stream or what takes its place, title and icon."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from api.services.orders.expiry import expire_orders
from api.services.settlement.watching.watcher import watch
from api.serving import order_stream
from tests.browser.conftest import Tab
from tests.browser.customer import come_back, expect_heading, expect_tab_icon, read_stages, simulate

SOON_MS = 3_000
HIDE = """(isHidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, value: isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""What a browser does where another tab is looked at: it shows no tabs here."""
DRAWN_WIDTH = """async (url) => {
  const picture = Object.assign(new Image(), { src: url });
  await picture.decode();
  return picture.naturalWidth;
}"""


def work_unseen(tab: Tab, seconds: float = 1) -> None:
    """Let the worker work as it does in a process of its own: nobody looks at the page."""
    tab.shop.clock.advance(seconds=seconds)
    watch(tab.shop.resources)
    expire_orders(tab.shop.resources)


def count_status(page: Page) -> list[str]:
    """Note from now on what is asked of the server."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/status" in request.url else None)
    return asked


def test_the_stages_are_those_of_the_quote_that_was_paid(tab: Tab) -> None:
    page = tab.open()
    tab.choose("Arbitrum", "ETH").click()
    expect_heading(page, "Payment sent")
    sent = read_stages(page)
    assert sent[0] == "now: Sent, waiting for Arbitrum to take it in"
    assert any(each.startswith("todo: Over to Base with ") for each in sent)
    expect(page.locator("#steps > li").first.locator(".step-clock")).to_have_text(re.compile(r"^0:0\d$"))
    tab.inspect("steps-sent")
    page.reload()
    expect_heading(page, "Payment sent")
    expect(page.locator("#steps > li")).to_have_count(len(sent))
    assert read_stages(page) == sent
    tab.work(0.3)
    expect_heading(page, "Payment on its way")
    moving = read_stages(page)
    assert len(moving) == len(sent)
    assert [each.partition(":")[0] for each in moving] == ["done"] * (len(moving) - 2) + ["now", "todo"]
    assert moving[-2].startswith("now: On its way to Base with ")
    expect(page.locator("#steps > li").nth(-2)).to_contain_text("usually about")
    expect(page.locator("#steps .step-hash").first).to_have_text(re.compile("^0x[0-9a-f]{6}…[0-9a-f]{6}$"))
    tab.inspect("steps-bridging")
    page.reload()
    assert read_stages(page) == moving


@pytest.mark.parametrize(
    ("action", "text"),
    [("Slow bridge", "Your money is not lost"), ("Pay too much", "You need to do nothing.")],
)
def test_what_takes_long_is_said_calmly_and_with_what_happens_next(tab: Tab, action: str, text: str) -> None:
    page = tab.open()
    simulate(page, action)
    tab.work(0.3)
    expect_heading(page, "Payment on its way")
    late = page.locator("#steps .step-late:visible")
    expect(late).to_have_count(0)
    tab.shop.clock.advance(minutes=75)
    come_back(page)
    expect(late).to_contain_text(text)
    expect(page.get_by_role("status").first).to_contain_text(text)
    expect(page.locator("#steps > li[data-state=now] .step-clock")).to_have_text(re.compile(r"^1:15:\d\d$"))
    tab.inspect(f"steps-late-{action.lower().replace(' ', '-')}")
    page.reload()
    expect(late).to_contain_text(text)


def test_the_page_hears_of_a_change_without_asking(tab: Tab) -> None:
    with tab.page.expect_response("**/events"):
        page = tab.open()
    tab.pay_button.click()
    expect_heading(page, "Payment sent")
    page.wait_for_timeout(500)
    asked = count_status(page)
    page.wait_for_timeout(3_500)
    assert asked == []
    work_unseen(tab)
    expect(page.get_by_role("heading", name="Payment on its way")).to_be_visible(timeout=SOON_MS)
    work_unseen(tab, 10)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible(timeout=SOON_MS)
    assert len(asked) <= 3


def test_without_a_stream_the_page_asks_again_and_again(tab: Tab) -> None:
    tab.expected.append("Failed to load resource")
    tab.page.route("**/events", lambda route: route.abort())
    page = tab.open()
    asked = count_status(page)
    tab.pay_button.click()
    expect_heading(page, "Payment sent")
    work_unseen(tab)
    expect_heading(page, "Payment on its way")
    work_unseen(tab, 10)
    expect_heading(page, "Payment complete")
    assert len(asked) >= 2


def test_a_refused_stream_is_no_trouble(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    tab.expected.append("429")
    monkeypatch.setattr(order_stream, "PER_ADDRESS", 0)
    streams: list[str] = []
    tab.page.on("request", lambda request: streams.append(request.url) if "/events" in request.url else None)
    page = tab.open()
    tab.pay_button.click()
    expect_heading(page, "Payment sent")
    work_unseen(tab)
    expect_heading(page, "Payment on its way")
    expect(page.locator("#trouble")).to_be_hidden()
    assert len(streams) == 1


def test_a_stream_that_ends_is_resumed(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_stream, "LIFE_S", 1.0)
    streams: list[str] = []
    tab.page.on("request", lambda request: streams.append(request.url) if "/events" in request.url else None)
    page = tab.open()
    tab.pay_button.click()
    expect_heading(page, "Payment sent")
    page.wait_for_timeout(4_000)
    assert len(streams) >= 2
    work_unseen(tab)
    expect_heading(page, "Payment on its way")


def test_tabs_that_nobody_looks_at_leave_connections_to_the_others(tab: Tab) -> None:
    """A browser opens six to a host, and a stream keeps one: the seventh tab would wait until another one is closed."""
    first = tab.open()
    tab.pay_button.click()
    expect_heading(first, "Payment sent")
    first.evaluate(HIDE, True)
    for _ in range(7):
        page = tab.context.new_page()
        page.goto(tab.shop.url(tab.shop.order()))
        expect(page.get_by_role("button", name="Pay", exact=False).first).to_be_visible()
        page.evaluate(HIDE, True)
    work_unseen(tab)
    work_unseen(tab, 10)
    first.evaluate(HIDE, False)
    expect_heading(first, "Payment complete")


def test_a_tab_that_was_opened_unseen_listens_once_it_is_looked_at(tab: Tab) -> None:
    streams: list[str] = []
    tab.page.add_init_script("Object.defineProperty(document, 'hidden', { configurable: true, value: true })")
    tab.page.on("request", lambda request: streams.append(request.url) if "/events" in request.url else None)
    page = tab.open()
    page.wait_for_function("() => performance.getEntriesByName('interactive').length")
    assert streams == []
    with page.expect_response("**/events"):
        page.evaluate(HIDE, False)
    assert len(streams) == 1


def test_a_closed_order_holds_no_stream(tab: Tab) -> None:
    page = tab.open()
    tab.pay_button.click()
    expect_heading(page, "Payment sent")
    tab.work(10, rounds=2)
    expect_heading(page, "Payment complete")
    streams: list[str] = []
    page.on("request", lambda request: streams.append(request.url) if "/events" in request.url else None)
    page.reload()
    expect_heading(page, "Payment complete")
    page.wait_for_timeout(500)
    assert streams == []


def test_title_and_icon_tell_the_state(tab: Tab) -> None:
    page = tab.open()
    icon, urls = page.locator("#tab-icon"), set[str]()

    def expect_tab(title: str, name: str) -> None:
        expect(page).to_have_title(re.compile(title))
        expect_tab_icon(page, name)
        urls.add(str(icon.get_attribute("href")))

    expect_tab("^Pay .*Tea & Co", "waiting")
    tab.pay_button.click()
    expect_heading(page, "Payment sent")
    expect_tab("^Payment sent · .*Tea & Co", "progress")
    expect(page.locator("#summary-text")).to_have_text(re.compile("^Payment to .*Tea & Co"))
    tab.work()
    expect_heading(page, "Payment on its way")
    expect_tab("^Payment on its way · .*Tea & Co", "progress")
    tab.work(10)
    expect_heading(page, "Payment complete")
    expect_tab("^Payment complete · .*Tea & Co", "paid")
    page = tab.open()
    simulate(page, "Expire")
    expect_heading(page, "This order has expired")
    expect_tab("^This order has expired · .*Tea & Co", "problem")
    assert len(urls) == 4
    assert all(page.evaluate(DRAWN_WIDTH, url) for url in urls)


def test_offline_says_what_goes_on_without_the_page(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(viewport={"width": 390, "height": 844})
    tab.expected.append("Failed to load resource")
    page = tab.open()
    tab.pay_button.click()
    expect_heading(page, "Payment sent")
    go_offline(tab, "Payment sent")
    tab.context.set_offline(False)
    tab.work(0.3)
    expect_heading(page, "Payment on its way")
    expect(page.locator("#trouble")).to_be_hidden()
    go_offline(tab, "Payment on its way")
    work_unseen(tab, 10)
    page.wait_for_timeout(1_500)
    expect(page.get_by_role("heading", name="Payment complete")).to_have_count(0)
    tab.context.set_offline(False)
    expect_heading(page, "Payment complete")
    expect(page.locator("#trouble")).to_be_hidden()


def go_offline(tab: Tab, heading: str) -> None:
    """Cut the connection: the page keeps what it knows, and says that the payment goes on."""
    tab.context.set_offline(True)
    expect(tab.page.locator("#trouble")).to_contain_text("Your payment goes on without it")
    expect_heading(tab.page, heading)
    tab.inspect(f"offline-{heading.split()[-1]}")
