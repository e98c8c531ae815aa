"""The list of networks and tokens while it loads, and after that failed."""

from __future__ import annotations

import re

from playwright.sync_api import Route, expect

from tests.browser.conftest import Tab


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
