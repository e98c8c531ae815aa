"""What a customer sees and does on the page, whichever test it is."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect


def come_back(page: Page) -> None:
    """Come back to the page, which asks for news then."""
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")


def simulate(page: Page, title: str) -> None:
    """Use the panel of the test mode, by the title of what shall happen."""
    if page.locator("#test-controls").get_attribute("open") is None:
        # By a key: what comes there is not tapped twice, and the answer about ways to pay moves it away from a tap.
        page.locator("#test-controls > summary").press("Enter")
    button = page.get_by_role("button", name=re.compile(f"^{re.escape(title)} "))
    expect(button).to_be_enabled()  # not while what was pressed before is under way
    with page.expect_response("**/simulate"):
        button.press("Enter")


def expect_heading(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.get_by_role("heading", name=text)).to_be_visible()


def expect_tab_icon(page: Page, name: str) -> None:
    """Expect the browser's tab to have the icon of this name."""
    link = page.locator("#tab-icon")
    expect(link).to_have_attribute("href", link.get_attribute(f"data-{name}") or "no such icon")


def read_stages(page: Page) -> list[str]:
    """Return the stages, each with its state."""
    return [
        f"{row.get_attribute('data-state')}: {row.locator('.step-label').inner_text()}"
        for row in page.locator("#steps > li").all()
    ]


def read_rows(page: Page, where: str = "#receipt-rows") -> dict[str, list[str]]:
    """Return the texts of each kind of row."""
    found: dict[str, list[str]] = {}
    for row in page.locator(f"{where} > div").all():
        found.setdefault(row.get_attribute("data-name") or "", []).append(row.locator("dd").inner_text())
    return found
