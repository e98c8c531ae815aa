"""Icons of tokens, chains and wallets: from the page's own sprite, or the wallet's own picture, else a letter."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Tab

ICONS = re.compile(r"/icons[^/]*\.svg")
DRAWN = "() => [...document.querySelectorAll('#tokens .avatar')].map((disc) => disc.querySelector('.whole') !== null)"


def disc(tab: Tab, symbol: str) -> Locator:
    return (
        tab.page.locator("#tokens li", has=tab.page.locator(".token-symbol", has_text=symbol)).locator(".avatar").first
    )


@pytest.mark.parametrize("settings", [{}, {"color_scheme": "dark"}, {"forced_colors": "active"}])
def test_tokens_and_chains_have_their_icons(make_tab: Callable[..., Tab], settings: dict[str, Any]) -> None:
    tab = make_tab(**settings)
    with tab.page.expect_response(ICONS) as sprite:
        page = tab.open()
    assert sprite.value.headers["content-type"].startswith("image/svg+xml")
    tab.list_tokens()
    expect(page.locator("#chains .avatar use")).to_have_count(5)
    expect(disc(tab, "ETH").locator(".whole use")).to_have_attribute("href", re.compile(r"^/static/.*#eth$"))
    assert page.evaluate(DRAWN).count(True) > 5
    for part in ("whole", "corner"):
        drawn = disc(tab, "USDC").screenshot()
        page.evaluate(f"() => document.querySelectorAll('.{part} > use').forEach((drawing) => drawing.remove())")
        assert disc(tab, "USDC").screenshot() != drawn, "what the sprite has is seen"
    tab.page.reload()
    tab.list_tokens()
    expect(page.locator("#tokens .avatar use").first).to_be_visible()
    tab.inspect(f"icons-{'-'.join(map(str, settings.values())) or 'light'}")


def test_without_the_sprite_there_are_letters(tab: Tab) -> None:
    tab.expected.append("Failed to load resource")
    tab.page.route(ICONS, lambda route: route.abort())
    tab.open()
    tab.list_tokens()
    expect(disc(tab, "USDC")).to_have_text("U")
    tab.choose("Base", "USDC")
    expect(tab.page.locator("#quote-avatar")).to_have_text("U")
    tab.inspect("icons-none")


def test_what_has_no_icon_has_a_letter(tab: Tab) -> None:
    page = tab.open()
    tab.list_tokens()
    page.get_by_label("Search tokens").fill("wstETH")
    expect(disc(tab, "wstETH")).to_have_text("w")
    expect(disc(tab, "wstETH").locator(".whole")).to_have_count(0)
    expect(disc(tab, "wstETH").locator(".corner use")).to_have_attribute("href", re.compile("#chain-8453$"))


def test_pictures_in_addresses_are_all_that_the_policy_adds(tab: Tab) -> None:
    response = tab.page.goto(tab.shop.url(tab.shop.order()))
    assert response is not None
    parts = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))
    assert [name for name, sources in parts.items() if "data:" in sources] == ["img-src"]
    assert "unsafe" not in str(parts)
