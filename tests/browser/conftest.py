"""One browser and one service for all tests of a folder, and a tab for each test.

With SCREENSHOTS=folder each state that a test inspects is also kept as a picture.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Route, expect, sync_playwright

from tests.browser.axe import violations
from tests.browser.contexts import Contexts
from tests.browser.customer import come_back
from tests.browser.motion import end_motion
from tests.browser.shop import SHOP, Shop, open_shop
from tests.support import chromium

FOLDER = os.environ.get("SCREENSHOTS")
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WATCH_CSP = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""
expect.set_options(timeout=20_000)
THRIFTY = (
    "--renderer-process-limit=1",
    "--js-flags=--no-turbofan,--no-maglev,--no-flush-bytecode,--no-isolate-script-cache-ageing",
    "--in-process-gpu",
)
"""Tabs of one context share a process, which keeps what it has compiled of the page, axe-core and Playwright.

Nothing is compiled a second time to run faster: no script runs long enough for that. Drawing has no process of its own.
"""
PRICE_REFUSED = re.compile(r"status of 409 .*/payment/\w+/quote\)$")
OF_A_TAB = ("color_scheme", "forced_colors", "reduced_motion")
"""Settings that a tab may have in a context of tabs without them; a viewport is the other one."""
DESKTOP = {"width": 1200, "height": 860}
THOROUGH = {"test_gallery", "test_languages", "test_look"}
"""Modules that visit the page in every state, language and look: half of what their folder takes."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests in one process that share one browser, before pytest-xdist reads it: a folder, or half of the largest.

    Its other half has a browser and a service of its own, as one worker would still be busy when all others are done.
    """
    folder = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(folder):
            part = "thorough" if item.path.stem in THOROUGH else item.path.parent.name
            item.add_marker(pytest.mark.xdist_group(f"browser {part}"))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A headless Chromium, which goes with the last test that needs it: an idle one takes a third of a core."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(chromium.executable()), args=[*chromium.ARGUMENTS, *THRIFTY], headless=True
        )
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """The service, and a merchant."""
    with open_shop(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


@pytest.fixture(scope="package")
def contexts(browser: Browser) -> Iterator[Contexts]:
    """What tabs with equal settings have one after the other."""
    contexts = Contexts(browser, prepare_context)
    yield contexts
    contexts.close()


@dataclass
class Tab:
    """A tab with the page of an order, and what its console said."""

    page: Page
    shop: Shop
    contexts: Contexts
    settings: Mapping[str, Any]
    is_context_changed: bool = False
    problems: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    order_id: str = ""

    @property
    def context(self) -> BrowserContext:
        """The tab's context, to be changed: no other tab has it after this one."""
        self.is_context_changed = True
        return self.page.context

    @property
    def unexpected(self) -> list[str]:
        """What the console said, but for what the test expects.

        A price that is asked for when the order has just ended is refused. No page can know better, so all expect that.
        """
        told = [text for text in self.problems if not PRICE_REFUSED.search(text)]
        return [text for text in told if not any(part in text for part in self.expected)]

    def close(self) -> None:
        """Leave the tab, and nothing in its context."""
        if self.is_context_changed:
            self.page.context.close()
        else:
            self.contexts.take_back(self.page.context, self.settings, self.shop.resources.config.base_url)

    def open(self, **order: Any) -> Page:
        """Make an order and open its page."""
        return self.visit(self.shop.order(**order))

    def visit(self, order_id: str) -> Page:
        self.order_id = order_id
        self.page.goto(self.shop.url(order_id))
        return self.page

    def choose(self, chain: str, symbol: str) -> Locator:
        """Choose a token instead of what is chosen already, and return the button that pays with it."""
        self.list_tokens()
        self.page.get_by_role("radio", name=chain, exact=True).check(force=True)
        self.page.get_by_role("button", name=re.compile(rf"^{re.escape(symbol)} ")).press("Enter")
        expect(self.pay_button).to_be_visible()
        return self.pay_button

    def list_tokens(self) -> None:
        """Go to the list of all ways to pay, once the page has chosen one."""
        title = self.page.get_by_role("heading", name=re.compile("^(Choose how to pay|Review and pay)$"))
        expect(title).to_be_visible()
        change = self.page.get_by_role("button", name="Change")
        if change.is_visible():
            change.press("Enter")  # of two quick taps on one place the page takes the first one only
            expect(self.page.get_by_role("heading", name="Choose how to pay")).to_be_visible()

    @property
    def pay_button(self) -> Locator:
        """The button that pays from the test wallet."""
        return self.page.get_by_role("button", name=re.compile("with the test wallet"))

    def work(self, seconds: float = 1, *, rounds: int = 1) -> None:
        """Let time pass for the service, and let the customer look at the page, which asks for news then."""
        self.shop.work(seconds, rounds=rounds)
        come_back(self.page)

    def inspect(self, name: str, *, of_each_row: bool = False) -> None:
        """Check the page as it stands: nothing for axe-core to find, nothing cut off, and keep a picture."""
        end_motion(self.page)
        wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert self.page.evaluate(wide) <= 0, "the page scrolls sideways"
        if FOLDER:
            Path(FOLDER).mkdir(parents=True, exist_ok=True)
            # Chromium takes a whole page as a screen with a mouse, so of phones only what is seen is taken.
            has_mouse = self.page.evaluate("() => matchMedia('(hover: hover)').matches")
            self.page.screenshot(path=str(Path(FOLDER) / f"{name}.png"), full_page=has_mouse)
        assert violations(self.page, of_each_row=of_each_row) == []


def prepare_context(context: BrowserContext) -> None:
    """Have a context answer for what is outside of the service, and tell what its policy forbids."""
    context.set_default_timeout(30_000)
    context.add_init_script(WATCH_CSP)
    context.route(f"{SHOP}/**", _merchant_page)
    context.route("https://img.example/**", _picture)


def open_tab(contexts: Contexts, shop: Shop, **settings: Any) -> Tab:
    """Open a tab in a context that is empty, which notes what its console says."""
    media = {name: settings.pop(name) for name in OF_A_TAB if name in settings}
    size = settings.pop("viewport", DESKTOP)
    settings = {"viewport": DESKTOP, "locale": "en-GB", **settings}
    page = contexts.lend(settings).new_page()
    if size != DESKTOP:
        page.set_viewport_size(size)
    if media:
        page.emulate_media(**media)
    tab = Tab(page=page, shop=shop, contexts=contexts, settings=settings)
    page.on("console", lambda message: tab.problems.append(_locate(message)) if message.type == "error" else None)
    page.on("pageerror", lambda error: tab.problems.append(str(error)))
    return tab


@pytest.fixture
def make_tab(contexts: Contexts, shop: Shop) -> Iterator[Callable[..., Tab]]:
    """Open tabs with settings of a browser context; none may log an error that the test does not expect."""
    tabs: list[Tab] = []

    def make(**settings: Any) -> Tab:
        tabs.append(open_tab(contexts, shop, **settings))
        return tabs[-1]

    yield make
    for tab in tabs:
        tab.close()
    assert [text for tab in tabs for text in tab.unexpected] == []


@pytest.fixture
def tab(make_tab: Callable[..., Tab]) -> Tab:
    """A tab of a desktop browser."""
    return make_tab()


def _locate(message: ConsoleMessage) -> str:
    """Return what a console said, and of what."""
    return f"{message.text} ({message.location['url']})"


def _merchant_page(route: Route) -> None:
    route.fulfill(body="<!doctype html><title>Shop</title><h1>Back in the shop</h1>", content_type="text/html")


def _picture(route: Route) -> None:
    if "broken" in route.request.url:
        route.fulfill(status=404, body="")
    else:
        route.fulfill(body=PIXEL, content_type="image/png")
