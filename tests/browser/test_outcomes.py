"""How an order can end, or go astray, and what the page says to do then."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from api.domain.env import EnvMode
from api.domain.orders import OrderStatus, StatusReason
from api.domain.simulation import Action
from api.services.orders.commands import cancel, refund
from api.services.orders.refunds import RefundRequest
from api.services.simulator.actions import simulate as simulate_action
from tests.browser.conftest import Tab
from tests.browser.customer import come_back, expect_heading, simulate


def test_the_test_controls_say_what_they_do(tab: Tab) -> None:
    page = tab.open()
    page.get_by_text("Test controls").click()
    expect(page.locator("#test-grid button")).to_have_count(8)
    tab.inspect("test-controls")


def test_an_expired_order_asks_before_it_sends_away(tab: Tab) -> None:
    page = tab.open()
    simulate(page, "Expire")
    expect(page.get_by_role("heading", name="This order has expired")).to_be_focused()
    expect(page.get_by_role("link", name=re.compile("^Return to"))).to_be_hidden()
    tab.inspect("expired")
    page.get_by_role("button", name="I have not paid").click()
    page.wait_for_url(re.compile("shop.example"))
    assert page.url == f"https://shop.example/failed?payment_order_id={tab.order_id}&status=expired#top"


def test_a_payment_after_expiry_is_waited_for(tab: Tab) -> None:
    page = tab.open()
    simulate(page, "Expire")
    looking = page.get_by_text("Looking once more for payments")
    expect(looking).to_be_visible()
    page.get_by_role("button", name="I have paid").click()
    expect(page.locator("#i-paid-text")).to_be_focused()
    expect(looking).to_be_hidden()
    expect(page.locator("#i-paid-text")).to_contain_text("Then do not pay again.")
    expect(page.get_by_text("Have you sent a payment?")).to_be_hidden()
    expect(page.get_by_role("link", name=re.compile("^Return to"))).to_be_visible()
    tab.inspect("expired-paid")
    page.get_by_role("button", name="Change my answer").click()
    expect(page.get_by_text("Have you sent a payment?")).to_be_visible()
    page.get_by_role("button", name="I have paid").click()
    simulate(page, "Pay late")
    tab.work()
    expect_heading(page, "Payment on its way")
    tab.work(10)
    expect_heading(page, "Payment complete")
    expect(
        page.locator("#outcome").get_by_text("It came after the order had expired and was accepted.")
    ).to_be_visible()


def test_time_that_is_over_is_over_before_the_worker_says_so(tab: Tab) -> None:
    order_id = tab.shop.order()
    tab.shop.clock.advance(hours=24, seconds=1)
    page = tab.visit(order_id)
    assert tab.shop.state(order_id).status == OrderStatus.CREATED
    expect_heading(page, "This order has expired")


def test_the_rest_of_a_short_payment_can_be_paid(tab: Tab) -> None:
    page = tab.open()
    simulate(page, "Pay too little")
    expect_heading(page, "Payment sent")
    tab.work()
    expect(page.locator("#banner")).to_be_focused()
    expect(page.locator("#banner").get_by_text("21.25 USDC arrived, 21.25 USDC is still due.")).to_be_visible()
    tab.inspect("underpaid")
    button = tab.choose("Base", "USDC")
    expect(button).to_have_text("Pay 21.25 USDC with the test wallet")
    button.click()
    expect_heading(page, "Payment sent")
    tab.work(10, rounds=2)
    expect_heading(page, "Payment complete")


@pytest.mark.rule("links.14")
def test_a_short_payment_fails_at_expiry_and_says_where_the_money_is(tab: Tab) -> None:
    page = tab.open()
    simulate(page, "Pay too little")
    tab.work(10, rounds=2)
    expect_heading(page, "Part of the payment is missing")
    simulate(page, "Expire")
    expect(page.get_by_role("heading", name="Payment incomplete")).to_be_focused()
    expect(page.locator("#outcome").get_by_text("What you sent is at")).to_be_visible()
    tab.inspect("failed")
    page.get_by_role("link", name=re.compile("^Return to")).click()
    page.wait_for_url(re.compile("shop.example"))
    assert page.url == f"https://shop.example/failed?payment_order_id={tab.order_id}&status=failed#top"


def test_a_page_that_stays_open_stops_asking_for_the_rest_when_the_time_is_over(tab: Tab) -> None:
    """Found: it went on asking, and the rest came for a failed order."""
    page = tab.open()
    simulate(page, "Pay too little")
    tab.work(10, rounds=2)
    expect_heading(page, "Part of the payment is missing")
    tab.shop.clock.advance(hours=24)
    come_back(page)
    expect(page.get_by_role("heading", name="The time to pay is over")).to_be_focused()
    expect(page.locator("#progress").get_by_text("Do not pay any more")).to_be_visible()
    expect(page.locator("#pay")).to_be_hidden()
    expect(page.locator("#not-arrived")).to_be_hidden()
    tab.inspect("time-over")
    tab.work(2, rounds=2)
    expect_heading(page, "Payment incomplete")


@pytest.mark.parametrize(
    ("action", "title", "text", "status"),
    [
        ("Pay too much", "Payment complete", r"Ask .* to return [\d.]+ USDC\.", OrderStatus.SUCCESS),
        ("Failing bridge", "The bridge returned your payment", "went back to the wallet", OrderStatus.FAILED),
        ("Slow bridge", "Payment complete", "You need to do nothing more", OrderStatus.SUCCESS),
    ],
)
def test_what_goes_wrong_is_explained(tab: Tab, action: str, title: str, text: str, status: OrderStatus) -> None:
    page = tab.open()
    simulate(page, action)
    expect_heading(page, "Payment sent")
    tab.work(4, rounds=8)
    expect_heading(page, title)
    expect(page.locator("#outcome").get_by_text(re.compile(text))).to_be_visible()
    assert tab.shop.state(tab.order_id).status == status
    tab.inspect(f"outcome-{action.lower().replace(' ', '-')}")


def test_a_deposit_on_its_way_warns_but_blocks_nobody(tab: Tab) -> None:
    """Attack: a stranger's deposit into a bridge parked the order for hours."""
    page = tab.open()
    simulate(page, "Slow bridge")
    tab.work(rounds=2)
    expect_heading(page, "Payment on its way")
    expect(page.locator("#progress")).to_contain_text("If it is yours, wait for it")
    asks = page.get_by_text("It has not arrived, or it was not your payment?")
    expect(asks).to_be_hidden()
    tab.inspect("on-its-way")
    tab.shop.clock.advance(seconds=301)
    come_back(page)
    again = page.get_by_role("button", name="Pay again all the same")
    expect(again).to_be_hidden()
    asks.click()
    expect(page.get_by_text("the order is paid twice")).to_be_visible()
    again.click()
    expect(page.locator("#pay").get_by_text("If it is yours, wait for it")).to_be_visible()
    expect(tab.choose("Base", "USDC")).to_have_text("Pay 42.50 USDC with the test wallet")
    tab.inspect("pay-again")


def test_another_token_does_not_count(tab: Tab) -> None:
    page = tab.open()
    simulate(page, "Send another token")
    tab.work()
    expect_heading(page, "Another token arrived")
    assert tab.shop.state(tab.order_id).status_reason == StatusReason.WRONG_TOKEN
    tab.inspect("wrong-token")
    simulate(page, "Expire")
    expect(page.locator("#receipt-rows [data-name=sent] dt")).to_have_text("Sent")
    expect(page.locator("#receipt-rows [data-name=paid]")).to_have_count(0)


def test_what_came_beside_the_right_payment_is_asked_back_and_nobody_is_sent_away(tab: Tab) -> None:
    """Found: "You need to do nothing more", and back to the shop, where the money stayed."""
    page = tab.open()
    simulate(page, "Send another token")
    tab.work()
    expect_heading(page, "Another token arrived")
    tab.choose("Base", "USDC").click()
    expect_heading(page, "Payment sent")
    tab.work(10, rounds=2)
    expect_heading(page, "Payment complete")
    expect(page.locator("#outcome")).to_contain_text(re.compile(r"ask .* to return .*1 ETH"))
    expect(page.get_by_text("You need to do nothing more")).to_be_hidden()
    expect(page.locator("#redirecting")).to_be_hidden()


def test_a_block_that_is_undone_lets_the_customer_pay_again(tab: Tab) -> None:
    page = tab.open()
    simulate(page, "Undo the block")
    tab.work(rounds=4)
    expect_heading(page, "Your payment was undone")
    assert tab.shop.state(tab.order_id).status_reason == StatusReason.REORGED
    expect(tab.pay_button).to_be_hidden()
    for promise in ("#steps", "#closing"):
        expect(page.locator(promise)).to_be_hidden()
    tab.inspect("reorged")
    page.locator("#not-arrived summary").press("Enter")
    expect(page.locator("#not-arrived")).to_contain_text("the order is paid twice")
    page.get_by_role("button", name="Pay again all the same").press("Enter")
    tab.choose("Base", "USDC").click()
    expect_heading(page, "Payment sent")


@pytest.mark.rule("links.13", "states.13")
def test_cancel_goes_back_to_the_shop_and_closes_nothing(tab: Tab) -> None:
    """Attack: whoever has the link ended the order."""
    page = tab.open()
    url = f"https://shop.example/cart?payment_order_id={tab.order_id}&status=created"
    link = page.get_by_role("link", name=re.compile("^Return to .* without paying$"))
    expect(link).to_have_attribute("href", url)
    link.click()
    page.wait_for_url(re.compile("shop.example"))
    assert page.url == url
    assert tab.shop.state(tab.order_id).status == OrderStatus.CREATED
    page.go_back()
    tab.choose("Base", "USDC")


def test_who_leaves_after_paying_is_told_that_it_goes_on(tab: Tab) -> None:
    page = tab.open()
    tab.pay_button.click()
    expect_heading(page, "Payment sent")
    page.get_by_role("link", name=re.compile("^Return to")).click()
    dialog = page.get_by_role("dialog", name="A payment was sent, or is being sent")
    expect(dialog).to_contain_text("going back to the shop does not stop it")
    expect(page.get_by_role("button", name="Stay on this page")).to_be_focused()
    tab.inspect("leaving")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("link", name=re.compile("^Return to"))).to_be_focused()
    tab.work()
    expect_heading(page, "Payment on its way")
    page.get_by_role("link", name=re.compile("^Return to")).click()
    page.get_by_role("link", name=re.compile("^Go to")).click()
    page.wait_for_url(re.compile("shop.example"))
    assert page.url == f"https://shop.example/cart?payment_order_id={tab.order_id}&status=processing"
    assert tab.shop.state(tab.order_id).status == OrderStatus.PROCESSING


def test_what_the_merchant_cancels_is_said_while_the_page_is_open(tab: Tab) -> None:
    page = tab.open()
    expect(tab.pay_button).to_be_visible()
    order = tab.shop.state(tab.order_id)
    cancel(tab.shop.resources, order.vendor_id, EnvMode.TEST, tab.order_id)
    come_back(page)
    expect(page.get_by_role("heading", name=re.compile("cancelled this order"))).to_be_focused()
    expect(page.get_by_role("button", name=re.compile("test wallet"))).to_be_hidden()
    tab.inspect("cancelled")


def test_a_closed_page_that_stays_open_shows_what_comes(tab: Tab) -> None:
    """Found: "it is shown here when it arrives", and an open page never showed it."""
    page = tab.open()
    expect(tab.pay_button).to_be_visible()
    order = tab.shop.state(tab.order_id)
    simulate_action(tab.shop.resources, tab.order_id, Action.PAY)
    tab.shop.clock.advance(seconds=4)
    cancel(tab.shop.resources, order.vendor_id, EnvMode.TEST, tab.order_id)
    expect(page.locator("#outcome")).to_contain_text("If you have sent a payment, it is shown here")
    tab.shop.work(10, rounds=2)
    expect(page.locator("#outcome")).to_contain_text("had arrived before")


def test_a_success_page_that_stays_open_shows_the_refund(tab: Tab) -> None:
    page = tab.open()
    tab.pay_button.click()
    expect_heading(page, "Payment sent")
    tab.work(10, rounds=2)
    page.get_by_role("button", name="Stay on this page").click()
    order = tab.shop.state(tab.order_id)
    refund(tab.shop.resources, order.vendor_id, EnvMode.TEST, tab.order_id, RefundRequest(), by="key_of_the_shop")
    tab.shop.work(10, rounds=2)
    expect_heading(page, "Payment refunded")


def test_a_short_payment_that_is_sent_back_is_not_called_due(tab: Tab) -> None:
    """Found: "Still due", and "the payment goes on without this page"."""
    page = tab.open()
    simulate(page, "Pay too little")
    tab.work(10, rounds=2)
    expect_heading(page, "Part of the payment is missing")
    order = tab.shop.state(tab.order_id)
    refund(tab.shop.resources, order.vendor_id, EnvMode.TEST, tab.order_id, RefundRequest(), by="key_of_the_shop")
    come_back(page)
    expect_heading(page, "Your money is being sent back")
    expect(page.locator("#progress")).not_to_contain_text("Still due")
    for part in ("#closing", "#steps"):
        expect(page.locator(part)).to_be_hidden()


def test_a_refund_is_no_way_to_the_success_page(tab: Tab) -> None:
    page = tab.open()
    tab.pay_button.click()
    expect_heading(page, "Payment sent")
    tab.work(10, rounds=2)
    order = tab.shop.state(tab.order_id)
    refund(tab.shop.resources, order.vendor_id, EnvMode.TEST, tab.order_id, RefundRequest(), by="key_of_the_shop")
    tab.work(10, rounds=2)
    tab.visit(tab.order_id)
    expect_heading(page, "Payment refunded")
    way_back = page.get_by_role("link", name=re.compile("^Return to"))
    expect(way_back).to_have_attribute("href", re.compile("^https://shop.example/failed.*status=refunded#top$"))
    tab.inspect("refunded")


def test_a_live_order_says_that_it_cannot_be_paid_here(tab: Tab) -> None:
    page = tab.visit(tab.shop.real_order())
    expect_heading(page, "Live payments are not available yet")
    expect(page.get_by_role("button", name=re.compile("^Pay"))).to_have_count(0)
    expect(page.get_by_text("Test mode")).to_have_count(0)
    tab.inspect("live")


def test_an_order_without_an_account_says_so(tab: Tab) -> None:
    page = tab.visit(tab.shop.order_without_account())
    expect_heading(page, "This order can't be paid yet")
    expect(page.get_by_role("button", name=re.compile("^Pay"))).to_have_count(0)
    tab.inspect("not-payable")


def test_an_unknown_order_gets_a_page_for_people(tab: Tab) -> None:
    tab.expected.append("404")
    page = tab.visit("po_01unknown")
    expect_heading(page, "We can't find this payment")
    expect(page.get_by_role("button", name=re.compile("^Pay"))).to_have_count(0)
    tab.inspect("not-found")
