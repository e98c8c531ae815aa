"""The receipt, and the amounts of every way in which an order can end: the state and its numbers agree."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from api.domain.env import EnvMode
from api.services.orders.commands import refund
from api.services.orders.refunds import RefundRequest
from api.services.orders.views import PublicOrder
from api.storage.tables import Payment
from tests.browser.conftest import FOLDER, Tab
from tests.browser.customer import expect_heading, expect_tab_icon, read_rows, simulate

PHONE = {"viewport": {"width": 320, "height": 640}}


def pay(tab: Tab, *way: str, **order: Any) -> Page:
    """Pay an order in full, as the page suggests or with a chain's token, and wait until the merchant has it."""
    page = tab.open(**order)
    button = tab.choose(*way) if way else tab.pay_button
    button.click()
    expect_heading(page, "Payment sent")
    tab.work(4, rounds=4)
    expect_heading(page, "Payment complete")
    return page


def test_an_hour_has_two_digits_on_a_receipt_too(make_tab: Callable[..., Tab]) -> None:
    """Found: 2:14:53 on the receipt, 02:14 beside it."""
    tab = make_tab(timezone_id="America/New_York")
    page = tab.open()
    expires = page.locator("#deadline time")
    expect(expires).to_have_text(re.compile(r", 0\d:\d\d \S+$"))
    tab.pay_button.click()
    expect_heading(page, "Payment sent")
    tab.work(4, rounds=4)
    expect(page.locator("#receipt-rows time")).to_have_text(re.compile(r", 0\d:\d\d:\d\d \S+$"))


def give_back(tab: Tab, amount: int | None = None) -> None:
    """Let the merchant send back what came, or a part of it."""
    order = tab.shop.state(tab.order_id)
    refund(
        tab.shop.resources,
        order.vendor_id,
        EnvMode.TEST,
        tab.order_id,
        RefundRequest(amount=amount),
        by="key_of_the_shop",
    )
    tab.work(10, rounds=2)
    tab.visit(tab.order_id)


def same_after_reload(tab: Tab) -> None:
    """What the server draws and what the scripts draw is the same."""
    before, summary = read_rows(tab.page), tab.page.locator("#pay-heading").inner_text()
    title, icon = tab.page.title(), tab.page.locator("#tab-icon").get_attribute("href")
    tab.page.reload()
    expect(tab.page.locator("#receipt-actions")).to_be_visible()
    assert read_rows(tab.page) == before
    assert tab.page.locator("#pay-heading").inner_text() == summary
    assert (tab.page.title(), tab.page.locator("#tab-icon").get_attribute("href")) == (title, icon)


def test_success_turns_the_page_into_a_receipt(tab: Tab) -> None:
    page = pay(tab, "Arbitrum", "ETH")
    page.get_by_role("button", name="Stay on this page").click()
    expect(page.locator("#summary-text")).to_have_text(re.compile("^.?Paid to .*Tea & Co"))
    shown = read_rows(page)
    assert list(shown) == ["date", "order", "paid", "fees", "arrived", "took"]
    assert shown["order"] == [tab.order_id]
    assert re.fullmatch(r"(≈ )?0\.\d+ ETH · Arbitrum", shown["paid"][0])
    assert shown["arrived"] == ["42.50 USDC · Base"]
    assert re.search(r"\d (USDC|ETH)", shown["fees"][0])
    labels = [each.inner_text() for each in page.locator(".transaction [data-name]").all()]
    assert [re.sub("[\u2068\u2069]", "", each).split(" · ")[-1] for each in labels] == ["Arbitrum", "Base"]
    assert labels[1].startswith("Delivery to")
    expect(page.locator(".transaction .mono")).to_have_count(2)
    tab.inspect("receipt-bridged")
    same_after_reload(tab)


def test_a_receipt_is_copied_as_plain_text(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(permissions=["clipboard-read", "clipboard-write"])
    page = pay(tab)
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator("#receipt-said")).to_have_text("Copied.")
    expect(page.locator("#redirecting")).to_be_hidden()
    lines = page.evaluate("() => navigator.clipboard.readText()").splitlines()
    assert lines[0] == "Receipt"
    assert lines[1].endswith("42.50 USDC")
    assert f"Order: {tab.order_id}" in lines
    tx_hash = page.locator(".transaction .mono").inner_text()
    assert lines[-1].endswith(f": {tx_hash}")
    assert len(lines) == 2 + page.locator("#receipt-rows > div").count() + 1


def test_who_may_not_copy_is_told_what_else_to_do(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab()
    tab.page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page = pay(tab)
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator("#receipt-said")).to_contain_text("Select the text, or print it.")


def test_a_receipt_is_printed(tab: Tab, tmp_path: Path) -> None:
    tab.page.add_init_script("window.printed = 0; window.print = () => { window.printed += 1; }")
    page = pay(tab, "Arbitrum", "ETH")
    expect(page.locator("#receipt-rows [data-name=date] time")).to_have_text(re.compile(r"\b\d\d:\d\d:\d\d\b"))
    page.get_by_role("button", name="Print or save as PDF").click()
    assert page.evaluate("() => window.printed") == 1
    expect(page.locator("#redirecting")).to_be_hidden()
    page.emulate_media(media="print")
    for shown in ("#receipt-title", "#pay-heading", ".item-title >> nth=0", ".transaction .mono >> nth=1"):
        expect(page.locator(shown)).to_be_visible()
    for hidden in ("#receipt-actions", "#return", "#devices", ".seal", ".foot", "#cancel-line"):
        expect(page.locator(f"{hidden}:visible")).to_have_count(0)
    if FOLDER:
        page.screenshot(path=f"{FOLDER}/receipt-print.png", full_page=True)
    pdf = page.pdf(path=tmp_path / "receipt.pdf", format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1


def test_an_underpaid_order_says_what_came_and_what_is_due(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(timezone_id="America/New_York")
    page = tab.open()
    simulate(page, "Pay too little")
    tab.work()
    expect_heading(page, "Part of the payment is missing")
    wanted = {"price": ["42.50 USDC"], "arrived": ["21.25 USDC"], "due": ["21.25 USDC"]}
    assert read_rows(page, "#banner [data-amounts]") == wanted
    expect(page.locator("#receipt")).to_be_hidden()
    expect_tab_icon(page, "problem")
    page.reload()
    expect(page.locator("#banner")).to_be_visible()
    assert read_rows(page, "#banner [data-amounts]") == wanted
    tab.inspect("amounts-underpaid")
    expect(page.locator("#banner")).to_contain_text(re.compile(r"before .*2026.* (EST|EDT|GMT-[45])[;.]"))
    page.get_by_role("link", name=re.compile(r"^Return to [^ ]*Tea & Co \d+[^ ]*$")).click()
    dialog = page.get_by_role("dialog", name="21.25 USDC of 42.50 USDC arrived")
    expect(dialog).to_contain_text("21.25 USDC is still due before")
    expect(dialog).not_to_contain_text("UTC")
    expect(page.get_by_text("on its way", exact=False).filter(visible=True)).to_have_count(0)
    tab.inspect("leaving-underpaid")
    page.keyboard.press("Escape")
    simulate(page, "Expire")
    expect_heading(page, "Payment incomplete")
    shown = read_rows(page)
    assert {name: shown[name] for name in ("price", "arrived", "missing")} == {
        "price": ["42.50 USDC"],
        "arrived": ["21.25 USDC · Base"],
        "missing": ["21.25 USDC"],
    }
    expect(page.locator("#receipt-title")).to_have_text("What happened to the money")
    expect(page.locator("#summary-text")).to_have_text(re.compile("Order at"))
    tab.inspect("amounts-failed")
    same_after_reload(tab)


def test_an_overpaid_order_says_by_how_much(tab: Tab) -> None:
    page = tab.open()
    simulate(page, "Pay too much")
    tab.work()
    expect_heading(page, "Payment on its way")
    assert read_rows(page, "#progress [data-amounts]") == {
        "price": ["42.50 USDC"], "arrived": ["46.75 USDC"], "surplus": ["4.25 USDC"],
    }  # fmt: skip
    tab.inspect("amounts-overpaid-processing")
    tab.work(4, rounds=3)
    expect_heading(page, "Payment complete")
    shown = read_rows(page)
    assert (shown["arrived"], shown["surplus"], shown["paid"]) == (
        ["46.75 USDC · Base"], ["4.25 USDC"], ["46.75 USDC · Base"],
    )  # fmt: skip
    tab.inspect("amounts-overpaid")
    same_after_reload(tab)


def test_a_late_payment_says_when_it_came(tab: Tab) -> None:
    page = tab.open()
    simulate(page, "Expire")
    tab.shop.clock.advance(minutes=90)
    simulate(page, "Pay late")
    tab.work()
    tab.work(10)
    expect_heading(page, "Payment complete")
    shown = read_rows(page)
    assert set(shown) >= {"date", "expired", "came", "arrived"}
    assert shown["expired"] != shown["came"]
    tab.inspect("amounts-late")
    same_after_reload(tab)


def test_a_refund_says_what_came_and_what_went_back(tab: Tab) -> None:
    page = pay(tab)
    give_back(tab)
    expect_heading(page, "Payment refunded")
    shown = read_rows(page)
    assert (shown["arrived"], shown["sent_back"]) == (["42.50 USDC · Base"], ["42.50 USDC"])
    assert "kept" not in shown
    expect(page.locator("#summary-text")).to_have_text(re.compile("Refunded by"))
    expect(page.locator(".transaction")).to_have_count(2)
    expect(page.locator(".transaction").nth(1)).to_contain_text("Refund · Base")
    tab.inspect("amounts-refunded")
    same_after_reload(tab)


def test_a_partial_refund_says_what_stays(tab: Tab) -> None:
    page = pay(tab)
    give_back(tab, 10_000_000)
    expect_heading(page, "Part of the money was refunded")
    shown = read_rows(page)
    assert (shown["arrived"], shown["sent_back"], shown["kept"]) == (
        ["42.50 USDC · Base"], ["10.00 USDC"], ["32.50 USDC"],
    )  # fmt: skip
    tab.inspect("amounts-partially-refunded")
    same_after_reload(tab)


def test_every_amount_fits_on_a_small_screen_in_the_dark(make_tab: Callable[..., Tab]) -> None:
    tab = make_tab(**PHONE, color_scheme="dark")
    page = tab.open()
    simulate(page, "Pay too little")
    tab.work()
    expect_heading(page, "Part of the payment is missing")
    tab.inspect("amounts-underpaid-small-dark")
    page = pay(tab, "Arbitrum", "ETH")
    page.get_by_role("button", name="Stay on this page").click()
    tab.inspect("receipt-small-dark")
    give_back(tab)
    expect_heading(page, "Payment refunded")
    tab.inspect("amounts-refunded-small-dark")


@pytest.mark.parametrize(
    ("support", "href"),
    [
        ("help@tea.example", "mailto:help@tea.example?subject=Order%20{order}"),
        ("https://tea.example/help?a=b", "https://tea.example/help?a=b"),
        ("javascript:alert(1)", None),
        ("", None),
    ],
)
def test_the_merchant_is_named_where_something_is_wrong(
    tab: Tab, monkeypatch: pytest.MonkeyPatch, support: str, href: str | None
) -> None:
    from api.services.checkout import money_seen

    read = money_seen.describe_publicly
    monkeypatch.setattr(
        money_seen, "describe_publicly", lambda *args: _with_support(read(*args), support), raising=True
    )
    page = tab.open()
    expect(page.locator("#contact")).to_be_hidden()
    simulate(page, "Expire")
    expect_heading(page, "This order has expired")
    if href is None:
        expect(page.locator("#contact")).to_be_hidden()
    else:
        expect(page.locator("#contact")).to_be_visible()
        assert page.locator("#contact a").get_attribute("href") == href.format(order=tab.order_id)
        tab.inspect("contact")


def _with_support(order: PublicOrder, support: str) -> PublicOrder:
    return replace(order, vendor_support=support)


def test_amounts_are_those_of_the_chain(tab: Tab) -> None:
    """What the record says of money is what is stored of the transfers, to the unit."""
    page = pay(tab, "Arbitrum", "ETH")
    with tab.shop.resources.database.read() as session:
        payments = session.scalars(select(Payment).where(Payment.order_id == tab.order_id)).all()
    assert {row.kind: row.amount for row in payments}["payment"] == 42_500_000
    hashes = [row.tx_hash for row in payments]
    assert sorted(page.locator(".transaction .mono").all_inner_texts()) == sorted(hashes)
