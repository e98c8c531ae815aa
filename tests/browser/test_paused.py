"""An order whose chain nobody reads just now: the page says so, offers nothing, and goes on by itself."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from api.services.orders import payability
from tests.browser.conftest import Tab
from tests.browser.customer import come_back

TITLE = "This order can't be paid at the moment"


def test_a_page_waits_for_its_chain_and_goes_on_by_itself(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payability, "is_unread", lambda *_: True)
    page = tab.open()
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    expect(page.locator("#outcome").get_by_text("We can't see new payments on Base just now")).to_be_visible()
    expect(page.get_by_role("heading", name="Choose how to pay")).to_be_hidden()
    expect(page.get_by_text("Looking once more for payments")).to_be_hidden()
    expect(page.get_by_role("link", name="Return to")).to_be_visible()
    tab.inspect("paused")
    monkeypatch.setattr(payability, "is_unread", lambda *_: False)
    # Nobody touches the page: it asks again, every 20 seconds where it would be told of payments at once.
    expect(page.get_by_role("heading", name=TITLE)).to_be_hidden(timeout=45_000)
    expect(tab.pay_button).to_be_visible()


def test_a_chain_that_falls_silent_while_a_page_is_open_is_told(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tab.open()
    expect(tab.pay_button).to_be_visible()
    monkeypatch.setattr(payability, "is_unread", lambda *_: True)
    come_back(page)
    expect(page.get_by_role("heading", name=TITLE)).to_be_focused()
    expect(tab.pay_button).to_be_hidden()
    monkeypatch.setattr(payability, "is_unread", lambda *_: False)
    come_back(page)
    expect(page.get_by_role("heading", name="Review and pay")).to_be_visible()
