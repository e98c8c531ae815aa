"""Nothing moves under a finger on a slow first visit: what comes late finds its room."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from api.checkout_page.language.strings import load
from tests.browser.conftest import DESKTOP, Tab
from tests.browser.gallery.looks import PHONE, SMALL
from tests.browser.shifts import SlowVisit, read_top

SCREENS: dict[str, dict[str, Any]] = {"desktop": {"viewport": DESKTOP}, "phone": PHONE, "small": SMALL}
BELOW = ("#devices", "#cancel", "#test-controls > summary", ".languages li:last-child a")
"""What can be tapped below the ways to pay."""


@pytest.mark.parametrize("language", ["en", "de", "ar"])
@pytest.mark.parametrize("screen", SCREENS)
def test_what_is_suggested_finds_its_room(make_tab: Callable[..., Tab], screen: str, language: str) -> None:
    """Found: 0.08 on a desktop, 0.25 to 0.30 on a phone, 0.52 to 0.54 on the smallest."""
    tab = make_tab(**SCREENS[screen], locale=language)
    page = tab.page
    visit = SlowVisit(page, tab.shop.url(tab.shop.order()))
    before = [read_top(page, name) for name in BELOW]
    visit.bring("main-")
    expect(page.get_by_text(load(language).page["loading_tokens"])).to_be_visible()
    visit.bring("options")
    expect(page.locator("#pay-button")).to_be_visible()
    visit.expect_little_movement()
    assert [read_top(page, name) for name in BELOW] == before


@pytest.mark.parametrize("screen", SCREENS)
def test_another_price_finds_its_room(make_tab: Callable[..., Tab], screen: str) -> None:
    tab = make_tab(**SCREENS[screen])
    page = tab.page
    visit = SlowVisit(page, tab.shop.url(tab.shop.order()))
    for name in ("main-", "options"):
        visit.bring(name)
    page.get_by_role("button", name="Change").press("Enter")
    visit.bring("tokens")
    page.get_by_role("button", name=re.compile("^POL Polygon")).press("Enter")
    before = [read_top(page, name) for name in BELOW]
    visit.bring("quote")
    expect(tab.pay_button).to_be_visible()
    assert [read_top(page, name) for name in BELOW] == before


@pytest.mark.parametrize("screen", SCREENS)
def test_the_stages_find_their_room(make_tab: Callable[..., Tab], screen: str) -> None:
    tab = make_tab(**SCREENS[screen])
    page = tab.page
    visit = SlowVisit(page, tab.shop.url(tab.shop.order()))
    for name in ("main-", "options"):
        visit.bring(name)
    tab.pay_button.press("Enter")
    expect(page.locator("#progress-title")).to_be_visible()
    below = BELOW[1:]
    before = [read_top(page, name) for name in below]
    visit.bring("status")
    assert [read_top(page, name) for name in below] == before
