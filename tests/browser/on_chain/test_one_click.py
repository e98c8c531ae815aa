"""From the link to the payment in one click, and what is said where a wallet can't."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from adapters.http.client import HttpLimits, JsonClient
from adapters.rpc.endpoint_pool import RpcPool
from adapters.transactions.simulation import PaymentChain
from api.domain.env import EnvMode
from tests.browser.chain_shop import (
    ADDRESSES,
    CHAIN,
    PRICE,
    choose_again,
    expect_problem,
    merchants_balance,
    pay_button,
)
from tests.browser.conftest import Tab
from tests.browser.shifts import FRAMES
from tests.browser.shop import Shop
from tests.browser.wallet import PAYER, TestWallet
from tests.support.main_net import MainNet
from tests.support.silence import never_answering

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
SMALL = {"viewport": {"width": 320, "height": 640}, "has_touch": True}
SOON_S = 3.0
OTHER = "0x" + "bb" * 20


@pytest.fixture
def wallet(net: MainNet, wallet: TestWallet) -> TestWallet:
    wallet.account, wallet.is_connected = f"0x{next(ADDRESSES):040x}", True
    net.chain.rpc("anvil_impersonateAccount", wallet.account)
    return wallet


def visit(tab: Tab) -> Page:
    return tab.visit(tab.shop.real_order(EnvMode.TEST, address=f"0x{next(ADDRESSES):040x}"))


def row(page: Page, symbol: str) -> str:
    return page.get_by_role("button", name=re.compile(rf"^{symbol} Base")).inner_text()


def test_a_wallet_that_is_connected_pays_in_one_click(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    net.fund(wallet.account, "WETH", 10**18)
    net.fund(wallet.account, "ETH", 10**16)
    wallet.inject(tab.page, "Rabby <b>")
    page = visit(tab)
    short = f"{wallet.account[:6]}…{wallet.account[-4:]}"
    expect(pay_button(page)).to_have_text(re.compile(rf"^Pay ≈\s0\.0\d+\sWETH with .Rabby <b>. \({short}\)$"))
    expect(page.locator("#quote-total")).to_have_text(re.compile(r"^≈ 4\d\.\d\d USDC in all, fees \d\.\d\d$"))
    expect(page.locator("#prompts")).to_have_text(re.compile("^Your wallet may ask twice: first to allow up to"))
    assert {method for _, method in wallet.asked} == {"eth_accounts"}, "nobody was asked anything"
    tab.inspect("one-click")
    wallet.holds = {"eth_sendTransaction"}
    pay_button(page).click()
    expect(page.locator("#wallet-progress")).to_have_text(re.compile(r"^1 of 2: Allow up to [\d.]+ WETH"))
    expect(page.locator("#pay-button")).to_have_text("Waiting for your wallet …")
    tab.inspect("one-click-prompt")
    with page.expect_response("**/report"):
        wallet.confirm(page)
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    assert merchants_balance(tab, net) == PRICE
    assert "eth_requestAccounts" not in [method for _, method in wallet.asked]


def test_the_merchants_own_token_is_preferred(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    for symbol, amount in (("USDC", 10 * PRICE), ("WETH", 10**18), ("ETH", 10**16)):
        net.fund(wallet.account, symbol, amount)
    wallet.inject(tab.page, "Rabby")
    begun = time.monotonic()
    page = visit(tab)
    expect(pay_button(page)).to_be_visible()
    print(f"\nfrom open to Pay: {time.monotonic() - begun:.2f} s")
    assert time.monotonic() - begun < SOON_S
    expect(pay_button(page)).to_have_text(re.compile(r"^Pay\s42.50\sUSDC with"))
    expect(page.locator("#prompts")).to_have_text(
        "Your wallet asks once to pay, and first to switch if it is on another network."
    )
    page.get_by_role("button", name="Change").click()
    assert "Cheapest" in row(page, "USDC")
    assert "You have 425.00 USDC" in row(page, "USDC")
    tab.inspect("options")
    choose_again(page, "USDC")
    with page.expect_response("**/report"):
        pay_button(page).click()
    assert merchants_balance(tab, net) == PRICE


def test_who_connects_sees_what_they_hold(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    """Found: where a wallet never answered, its button rested until the page was loaded again."""
    net.fund(wallet.account, "USDC", PRICE)
    net.fund(wallet.account, "ETH", 10**16)
    wallet.is_connected = False
    wallet.inject(tab.page, "Rabby")
    page = visit(tab)
    connect = page.get_by_role("button", name="Connect wallet")
    expect(connect).to_be_visible()
    assert "≈ 42." in row(page, "USDC")
    tab.inspect("connect")
    wallet.declines = {"eth_requestAccounts"}
    connect.click()
    expect_problem(page, "You declined in your wallet")
    wallet.declines, wallet.holds = set(), {"eth_requestAccounts"}
    connect.dblclick()
    expect(page.locator("#options-note")).to_have_text("Open your wallet and let this page see your address.")
    assert wallet.prompts == ["eth_requestAccounts"], "a double tap asks once"
    wallet.holds = set()  # its window was closed, and the question is never answered
    connect.click()
    expect(pay_button(page)).to_have_text(re.compile(r"^Pay\s42.50\sUSDC with"))
    expect(page.get_by_role("heading", name="Review and pay")).to_be_focused()
    page.get_by_role("button", name="Change").click()
    expect(page.locator("#connected")).to_contain_text("Rabby")
    expect(connect).to_be_hidden()


def test_what_is_not_enough_is_grey_and_says_what_is_missing(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    net.fund(wallet.account, "USDC", 10_000_000)
    net.fund(wallet.account, "DAI", 10**20)
    net.fund(wallet.account, "ETH", 10**9)
    wallet.inject(tab.page, "Rabby")
    page = visit(tab)
    expect(page.get_by_text("Nothing that we can see in this wallet is enough.")).to_be_visible()
    expect(pay_button(page)).to_be_hidden()
    assert "You have 10.00 USDC, and 42.50 USDC are needed." in row(page, "USDC")
    tab.inspect("not-enough")
    page.get_by_role("button", name=re.compile("^USDC Base")).click()
    expect(page.locator("#shortage")).to_have_text("You have 10.00 USDC, and 42.50 USDC are needed.")
    expect(pay_button(page)).to_be_hidden()
    tab.inspect("shortage")
    assert {method for _, method in wallet.asked} == {"eth_accounts"}


def test_the_network_fee_is_counted(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    net.fund(wallet.account, "USDC", PRICE)
    wallet.inject(tab.page, "Rabby")
    page = visit(tab)
    expect(page.locator(".token.poor").first).to_contain_text("You need 0.0000975 ETH more for the network fee.")
    page.get_by_role("button", name=re.compile("^USDC Base")).click()
    expect(page.locator("#shortage")).to_have_text("You need 0.0000975 ETH more for the network fee.")
    expect(pay_button(page)).to_be_hidden()


def test_another_account_is_noticed_before_it_pays(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    for account in (wallet.account, OTHER):
        net.fund(account, "USDC", PRICE)
        net.fund(account, "ETH", 10**16)
    wallet.inject(tab.page, "Rabby")
    page = visit(tab)
    expect(pay_button(page)).to_be_visible()
    wallet.account = OTHER  # without an event: some wallets send none
    pay_button(page).click()
    expect_problem(page, "Your wallet is on another account now.")
    expect(pay_button(page)).to_have_text(re.compile(r"\(0xbbbb…bbbb\)$"))
    assert "eth_sendTransaction" not in [method for _, method in wallet.asked]
    page.evaluate("() => window.dispatchEvent(new CustomEvent('wallet-account', { detail: [] }))")
    expect(pay_button(page)).to_have_text("Pay 42.50 USDC")
    page.evaluate(
        "(account) => window.dispatchEvent(new CustomEvent('wallet-account', { detail: [account] }))", PAYER.upper()
    )
    expect(pay_button(page)).to_have_text(re.compile(r"^Pay\s42.50\sUSDC"))


def test_what_was_said_of_one_account_is_not_said_of_the_next(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    """Found by a user: "this wallet holds 0 WETH" stayed beside an account that had it."""
    tab.expected.append("409")
    net.fund(wallet.account, "USDC", PRICE)
    net.fund(OTHER, "USDC", PRICE)
    for account in (wallet.account, OTHER):
        net.fund(account, "ETH", 10**16)
    wallet.inject(tab.page, "Rabby")
    page = visit(tab)
    expect(pay_button(page)).to_be_visible()
    refusal = {"reason": "balance_too_low", "message": "", "explanation": "This wallet holds 0.00 USDC on Base."}
    page.route("**/transactions", lambda route: route.fulfill(status=409, json=refusal))
    pay_button(page).click()
    expect_problem(page, "This wallet holds 0.00 USDC on Base")
    wallet.account = OTHER
    page.evaluate("(account) => window.dispatchEvent(new CustomEvent('wallet-account', { detail: [account] }))", OTHER)
    expect_problem(page, "Your wallet is on another account now. Check what is shown here, then press Pay.")
    expect(page.locator("#problem")).not_to_contain_text("holds")
    expect(pay_button(page)).to_have_text(re.compile(r"\(0xbbbb…bbbb\)$"))


@pytest.fixture
def silent(shop: Shop) -> Iterator[None]:
    """The chain's endpoint takes every question and answers none."""
    access = shop.resources.chain_access[EnvMode.TEST]
    with never_answering() as url:
        client = JsonClient(limits=HttpLimits(read_s=3, total_s=3, tries=1))
        hanging = PaymentChain(RpcPool(CHAIN, [url], client=client, sleep=lambda _: None))
        before, access.chains[CHAIN] = access.chains[CHAIN], hanging  # type: ignore[index]
        yield
        access.chains[CHAIN] = before  # type: ignore[index]


@pytest.mark.usefixtures("silent")
def test_a_chain_that_hangs_is_unknown_and_not_empty(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    net.fund(wallet.account, "USDC", PRICE)
    wallet.inject(tab.page, "Rabby")
    page = visit(tab)
    expect(page.get_by_text("We could not read what you hold on Base.")).to_be_visible()
    assert "Balance unknown" in row(page, "USDC")
    expect(pay_button(page)).to_be_hidden()
    tab.inspect("unknown-balance")
    choose_again(page, "USDC")


@pytest.mark.usefixtures("silent")
def test_a_tap_hits_that_is_under_way_when_prices_come_again(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    """Found: each answer built the list anew, so what was pressed was gone when the finger was lifted."""
    net.fund(wallet.account, "USDC", PRICE)
    wallet.inject(tab.page, "Rabby")
    page = visit(tab)
    button = page.get_by_role("button", name=re.compile("^USDC Base"))
    expect(button).to_be_visible()
    button.hover()
    page.mouse.down()
    page.wait_for_event("response", lambda response: response.url.endswith("/options"))
    page.evaluate(FRAMES)
    page.mouse.up()
    expect(page.get_by_role("heading", name="Review and pay")).to_be_visible()


@pytest.mark.usefixtures("silent")
def test_the_wallet_is_asked_where_no_endpoint_answers(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    net.fund(wallet.account, "USDC", PRICE)
    net.fund(wallet.account, "ETH", 10**16)
    wallet.chain = hex(CHAIN)
    wallet.inject(tab.page, "Rabby")
    page = visit(tab)
    expect(pay_button(page)).to_have_text(re.compile(r"^Pay\s42.50\sUSDC with"))


@pytest.mark.parametrize(("name", "settings"), [("phone", PHONE), ("small", SMALL)])
def test_on_a_phone_the_way_to_pay_is_on_the_first_screen(
    make_tab: Callable[..., Tab], net: MainNet, wallet: TestWallet, name: str, settings: dict[str, object]
) -> None:
    net.fund(wallet.account, "WETH", 10**18)
    net.fund(wallet.account, "ETH", 10**16)
    tab = make_tab(**settings)
    wallet.inject(tab.page, "A wallet with quite a long name")
    page = visit(tab)
    button = pay_button(page)
    expect(button).to_be_in_viewport(ratio=1)
    expect(page.locator("#quote-total")).to_be_in_viewport(ratio=1)
    lines = "(element) => element.getClientRects().length"
    assert page.locator("#quote-amount").evaluate(lines) == 1
    amount = page.locator("#quote-amount")
    assert amount.evaluate("(element) => element.scrollWidth <= element.parentElement.clientWidth")
    tab.inspect(f"pay-{name}")
    with page.expect_response("**/report"):
        button.click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    assert merchants_balance(tab, net) == PRICE
