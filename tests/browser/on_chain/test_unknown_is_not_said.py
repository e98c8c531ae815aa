"""What the page does not know it does not say; what came is shown, whatever became of the order."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from api.domain.env import EnvMode
from api.domain.orders import OrderStatus
from api.domain.payments import PaymentState
from api.domain.transfers import TransferKind
from api.services.orders.commands import cancel
from api.storage.db import insert_new
from api.storage.tables import Payment, PaymentOrder
from tests.browser.chain_shop import (
    CHAIN,
    PRICE,
    choose,
    expect_problem,
    merchants_balance,
    pay_button,
)
from tests.browser.conftest import Tab
from tests.browser.customer import come_back
from tests.browser.shop import USDC_ON_BASE
from tests.browser.wallet import PAYER, TestWallet
from tests.support.main_net import MainNet

SEND = "eth_sendTransaction"
NONE_SEEN = "no payment for this order has been seen until then"
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def net(net: MainNet) -> MainNet:
    net.fund(PAYER, "USDC", 10 * PRICE)
    return net


def mine(tab: Tab, net: MainNet) -> None:
    """Make blocks at the time of the service's clock, and more than an earlier test has taken back."""
    net.chain.rpc("evm_setNextBlockTimestamp", int(tab.shop.clock.now().timestamp()))
    net.chain.mine(20)


def cancel_order(tab: Tab) -> None:
    """Let the merchant close the order."""
    order = tab.shop.state(tab.order_id)
    cancel(tab.shop.resources, order.vendor_id, EnvMode.TEST, tab.order_id)


def credit(tab: Tab, tx_hash: str, amount: int) -> None:
    """Write what the watcher writes of money that came, whatever the order's status is."""
    now, order = tab.shop.clock.now(), tab.shop.state(tab.order_id)
    is_after_close = order.status not in {OrderStatus.CREATED, OrderStatus.PROCESSING}
    values = {
        "kind": TransferKind.PAYMENT, "chain_id": CHAIN, "tx_hash": tx_hash, "log_index": 0, "order_id": order.order_id,
        "env_mode": EnvMode.TEST, "token_address": USDC_ON_BASE, "amount": amount, "sender": PAYER,
        "recipient": order.settlement_address, "block_number": 1, "block_hash": f"0x{1:064x}", "mined_at": now,
        "state": PaymentState.FINAL, "seen_at": now, "updated_at": now, "is_after_close": is_after_close,
        "unmatched_reason": "", "bridge_id": "", "is_overdue": False, "is_rejected": False, "confirmations": 99,
    }  # fmt: skip
    with tab.shop.resources.database.write() as session:
        seen = session.scalars(select(Payment).where(Payment.tx_hash == tx_hash)).all()
        for each in seen:
            each.order_id, each.is_after_close, each.mined_at = order.order_id, is_after_close, now
        if not seen:
            insert_new(session, Payment, values)
        row = session.get_one(PaymentOrder, tab.order_id)
        row.amount_received, row.amount_due = amount, max(0, (row.amount_due or 0) - amount)


def test_an_order_that_ends_while_the_wallet_asks_says_one_thing(tab: Tab, wallet: TestWallet) -> None:
    """Found by a user: "confirm in your wallet" and "have you paid?" at once."""
    wallet.inject(tab.page, "Slow Wallet")
    wallet.holds = {SEND}
    page = choose(tab, "USDC")
    pay_button(page).click()
    expect(page.locator("#wallet-progress")).to_contain_text("Confirm the payment")
    with tab.shop.resources.database.write() as session:
        session.get_one(PaymentOrder, tab.order_id).expires_at = tab.shop.clock.now()
    come_back(page)
    expect(page.get_by_role("heading", name="This order has expired")).to_be_visible()
    expect(page.locator("#outcome")).to_contain_text("Your wallet still asks: decline there now")
    expect(page.locator("#in-flight")).to_be_hidden()
    expect(page.locator("#ask-if-paid")).to_be_hidden()
    tab.inspect("expired-while-asked")
    wallet.declines = {SEND}
    wallet.confirm(page)
    expect(page.get_by_role("button", name="I have paid")).to_be_visible()
    expect(page.locator("#outcome")).not_to_contain_text("Your wallet still asks")


@pytest.mark.parametrize("name", ["desktop", "phone"])
def test_a_cancelled_tab_shows_the_hash_that_the_wallet_gave(
    make_tab, net: MainNet, wallet: TestWallet, name: str
) -> None:
    """Attack: it said that nothing had been paid, without a hash, while 42.50 arrived."""
    tab = make_tab(**({"viewport": PHONE} if name == "phone" else {}))
    wallet.inject(tab.page, "Slow Wallet")
    wallet.holds = {SEND}
    page = choose(tab, "USDC")
    pay_button(page).click()
    expect(page.locator("#wallet-progress")).to_contain_text("Confirm the payment")
    tab.inspect(f"asking-{name}")
    cancel_order(tab)
    come_back(page)
    expect(page.get_by_role("heading", name=re.compile("cancelled this order"))).to_be_visible()
    expect(page.get_by_role("heading", name="Your wallet is asking you")).to_be_visible()
    wallet.confirm(page)
    expect(page.locator(".transaction")).to_contain_text("Sent from this browser, not seen on the network yet.")
    assert merchants_balance(tab, net) == PRICE
    tx_hash = page.locator(".transaction .mono").inner_text()
    tab.work(30)
    page.reload()
    expect(page.locator(".transaction")).to_contain_text(tx_hash)
    expect(page.get_by_text(NONE_SEEN)).to_be_hidden()
    tab.inspect(f"cancelled-with-payment-{name}")
    credit(tab, tx_hash, PRICE)
    page.reload()
    expect(page.get_by_role("heading", name="The money came after the order was closed")).to_be_visible()
    expect(page.locator("#receipt-rows [data-name=arrived]")).to_contain_text("42.50 USDC")
    expect(page.locator(".transaction")).to_contain_text("42.50 USDC arrived after the order was closed.")
    expect(page.locator(".transaction")).to_have_count(1)
    tab.inspect(f"paid-after-close-{name}")


def test_that_no_payment_was_seen_is_said_once_the_chains_were_read(tab: Tab, net: MainNet) -> None:
    tab.visit(tab.shop.real_order(EnvMode.TEST))
    page = tab.page
    tab.shop.work()
    tab.shop.clock.advance(seconds=1)
    cancel_order(tab)
    come_back(page)
    expect(page.get_by_role("heading", name=re.compile("cancelled this order"))).to_be_visible()
    expect(page.get_by_text("Looking once more for payments")).to_be_visible()
    expect(page.get_by_text(NONE_SEEN)).to_be_hidden()
    tab.shop.clock.advance(hours=1)
    tab.work()
    expect(page.get_by_text("Looking once more for payments")).to_be_visible()  # the endpoint shows old blocks only
    mine(tab, net)
    tab.work(30)
    expect(page.get_by_text(NONE_SEEN)).to_be_visible()
    tab.inspect("cancelled-none-seen")
    tab.shop.clock.advance(seconds=20)
    come_back(page)
    expect(page.get_by_text("Looking once more for payments")).to_be_hidden()  # up to when is known, and is said
    page.reload()
    expect(page.get_by_text(NONE_SEEN)).to_be_visible()
    expect(page.get_by_text("Looking once more for payments")).to_be_hidden()


def test_a_late_success_does_not_warn_to_pay_again(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    """Attack: after paid_late it still said not to pay again."""
    wallet.inject(tab.page, "Test Wallet")
    page = tab.visit(tab.shop.real_order(EnvMode.TEST, expires_at=tab.shop.clock.now() + timedelta(hours=1)))
    tab.shop.clock.advance(hours=1, seconds=1)
    tab.work()
    page.get_by_role("button", name="I have paid").click()
    expect(page.get_by_text("Then do not pay again.")).to_be_visible()
    tab.inspect("expired-says-paid")
    with tab.shop.resources.database.write() as session:
        row = session.get_one(PaymentOrder, tab.order_id)
        row.status, row.status_reason = OrderStatus.SUCCESS, "paid_late"
    credit(tab, f"0x{9:064x}", PRICE)
    come_back(page)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    expect(page.get_by_text("Then do not pay again.")).to_be_hidden()


@pytest.mark.parametrize("name", ["desktop", "phone"])
def test_what_came_too_short_or_wrong_is_shown_while_the_rest_can_be_paid(make_tab, name: str) -> None:
    tab = make_tab(**({"viewport": PHONE} if name == "phone" else {}))
    page = tab.visit(tab.shop.real_order(EnvMode.TEST, address=f"0x{len(name):040x}"))
    credit(tab, f"0x{len(name):064x}", 20_000_000)
    come_back(page)
    expect(page.locator("#banner")).to_contain_text("20.00 USDC arrived, 22.50 USDC is still due.")
    expect(page.locator(".transaction")).to_contain_text("20.00 USDC arrived.")
    page.get_by_role("button", name=re.compile("^USDC ")).click()
    expect(page.locator("#quote-amount")).to_have_text("22.50 USDC")
    expect(page.locator("#pay-button")).to_have_text("Pay on your phone or another device")  # there is no wallet here
    tab.inspect(f"underpaid-payable-{name}")


EMPTY = "insufficient funds for gas * price + value"
NO_GAS = "too little ETH for the network fee on Base. Add some ETH there"
ERRORS = (
    (-32000, EMPTY, None, NO_GAS),
    (-32603, f'Internal JSON-RPC error. {{"code":-32000,"message":"{EMPTY}"}}', None, NO_GAS),
    (-32603, "Internal error", {"code": -32000, "message": "gas required exceeds allowance (0)"}, NO_GAS),
    ("ACTION_REJECTED", "MetaMask Tx Signature: User denied transaction signature.", None, "You declined"),
    (-32002, "Request of type 'wallet_requestPermissions' already pending", None, "has a request open"),
    (4900, "disconnected", None, "no connection to Base"),
    (4100, "unauthorized", None, "does not let this page use that account"),
    (3, "execution reverted: ERC20: transfer amount exceeds balance", None, "would refuse this payment"),
    (-32603, '{"code":-32603,"stack":"at Object.<anonymous>"}', None, "we can't tell whether"),
)


@pytest.mark.parametrize(("code", "message", "data", "sentence"), ERRORS)
def test_a_wallets_error_is_a_sentence(
    tab: Tab, wallet: TestWallet, code: int | str, message: str, data: object, sentence: str
) -> None:
    """Attack: a wallet without gas got raw JSON."""
    wallet.inject(tab.page, "Broke Wallet")
    wallet.failures = {SEND: {"code": code, "message": message, "data": data}}
    page = choose(tab, "USDC")
    pay_button(page).click()
    expect_problem(page, sentence)
    said = page.locator("#problem").inner_text()
    assert not re.search(r"[{}\[\]]|-32|json|rpc|stack|revert", said, re.IGNORECASE)


def test_a_wallet_without_gas_is_told_what_to_do(make_tab, net: MainNet, wallet: TestWallet) -> None:
    """The chain's own refusal, on both sizes of screen."""
    for name, settings in (("desktop", {}), ("phone", {"viewport": PHONE})):
        tab = make_tab(**settings)
        wallet.inject(tab.page, "Empty Wallet")
        net.fund(PAYER, "ETH", 10**18)
        wallet.gas_price, wallet.is_connected = "0x3b9aca00", True
        page = choose(tab, "USDC")
        net.fund(PAYER, "ETH", 0)  # after the page has looked
        pay_button(page).click()
        expect_problem(page, "Your wallet has too little ETH for the network fee on Base. Add some ETH there")
        expect(pay_button(page)).to_be_focused()
        tab.inspect(f"no-gas-{name}")


def test_a_doubtful_error_is_not_answered_by_paying_twice(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    """The wallet has sent, and then fails: who clicks on must look first."""
    wallet.inject(tab.page, "Broken Wallet")
    wallet.fails_after = {SEND}
    page = choose(tab, "USDC")
    pay_button(page).click()
    expect_problem(page, "Look at its latest activity. If the payment is there, wait")
    expect(pay_button(page)).to_be_hidden()
    assert merchants_balance(tab, net) == PRICE
    tab.inspect("wallet-in-doubt")
    tab.work()
    expect(page.get_by_role("heading", name="Payment on its way")).to_be_visible()
