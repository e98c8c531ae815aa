"""Wallets show the picture that they announce, if it is one, and small; else a letter."""

from __future__ import annotations

import base64
import json
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.chain_shop import choose, pay_button
from tests.browser.conftest import PIXEL, Tab

PNG = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"
SVG = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='9' height='9'%3E{}%3C/svg%3E"
PLAIN_SVG, ACTIVE_SVG = SVG.format(""), SVG.format("%3Cscript%3Ewindow.hacked=1%3C/script%3E")
HOSTILE = (
    "javascript:window.hacked=1",
    "http://tracker.example/a.png",
    "https://tracker.example/a.png",
    "data:text/html,<script>window.hacked=1</script>",
    "data:image/bmp;base64,AAAA",
    "data:image/png.evil,x",
    f"data:image/png;base64,{'A' * 200_000}",
    "data:image/png;base64,broken",
    ["data:image/png;base64,AAAA"],
    None,
)
ANNOUNCE = """
for (const [number, icon] of %s.entries()) {
  const info = { uuid: `u${number}`, name: `Wallet ${number}`, icon, rdns: `test.w${number}` };
  window.addEventListener("eip6963:requestProvider", () => {
    window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: { info, provider: {} } }));
  });
}
"""
WIDTHS = """async () => {
  const pictures = [...document.querySelectorAll("#wallets .avatar img")];
  await Promise.all(pictures.map((picture) => picture.decode().catch(() => null)));
  return [...document.querySelectorAll("#wallets .avatar")].map((disc) => disc.querySelector("img")?.naturalWidth ?? 0);
}"""


def list_wallets(tab: Tab, pictures: list[Any]) -> Page:
    """Open the list of wallets, of which each announces one of these pictures."""
    tab.page.add_init_script(ANNOUNCE % json.dumps(pictures))
    page = choose(tab, "ETH")
    pay_button(page).click()
    expect(page.locator("#wallets .avatar")).to_have_count(len(pictures))
    return page


def test_wallets_show_their_own_pictures(tab: Tab) -> None:
    page = list_wallets(tab, [PNG, PLAIN_SVG, ACTIVE_SVG])
    assert page.evaluate(WIDTHS) == [1, 9, 9]
    assert page.evaluate("() => window.hacked") is None
    tab.inspect("wallets-with-pictures")


def test_hostile_pictures_give_way_to_letters(tab: Tab) -> None:
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    page = list_wallets(tab, [*HOSTILE])
    expect(page.locator("#wallets .avatar img")).to_have_count(0)
    expect(page.locator("#wallets .avatar")).to_have_text(["W"] * len(HOSTILE))
    assert page.evaluate("() => window.hacked") is None
    assert [url for url in asked if "tracker" in url or url.startswith(("javascript", "data:text"))] == []
    tab.inspect("wallets-with-letters")
