"""Paying from a wallet in the browser, on a local chain with real contracts."""

from __future__ import annotations

import pytest
from eth_utils import keccak
from playwright.sync_api import expect

from api.domain.env import EnvMode
from tests.browser.chain_shop import (
    ADDRESSES,
    CHAIN,
    PRICE,
    choose,
    choose_again,
    expect_problem,
    forget_reports,
    merchants_balance,
    pay_button,
    reported,
)
from tests.browser.conftest import Tab
from tests.browser.wallet import PAYER, TestWallet
from tests.support.main_net import MainNet, fact

APPROVAL = "0x" + keccak(text="Approval(address,address,uint256)").hex()
REPLACE = """(key) => {
  const note = JSON.parse(localStorage.getItem(key));
  note.report.hash = note.report.hash.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  localStorage.setItem(key, JSON.stringify(note));
}"""
"""What the browser knows where its wallet sped a payment up: the hash of one that another one took the place of."""
REVERTS = bytes.fromhex("5f5ffd")


def test_a_permission_and_a_payment_are_signed_on_the_right_network(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    wallet.inject(tab.page, "Test Wallet")
    page = choose(tab, "WETH")
    expect(page.get_by_text("Payments on this page move test coins on test networks.")).to_be_visible()
    expect(page.locator("#test-controls")).to_have_count(0)
    tab.inspect("wallet-quote")
    with page.expect_response("**/report"):
        pay_button(page).click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_focused()
    tab.inspect("wallet-sent")
    methods = [method for _, method in wallet.asked if not method.startswith("eth_get")]
    assert methods == [
        "eth_accounts", "eth_requestAccounts", "eth_chainId", "wallet_switchEthereumChain", "eth_chainId",
        "wallet_getCapabilities", "eth_sendTransaction", "eth_sendTransaction",
    ]  # fmt: skip
    assert merchants_balance(tab, net) == PRICE
    ((chain_id, tx_hash),) = reported(tab)
    assert chain_id == CHAIN
    expect(page.locator(".transaction")).to_contain_text(tx_hash)
    expect(page.locator(".transaction").get_by_text("simulated")).to_be_hidden()
    reference = tab.shop.state(tab.order_id).payment_reference
    assert net.chain.rpc("eth_getTransactionByHash", tx_hash)["input"].endswith(reference.hex())
    page.reload()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    expect(page.get_by_text(tx_hash)).to_be_visible()
    tab.work()
    expect(page.get_by_role("heading", name="Payment on its way")).to_be_visible()
    net.chain.mine(3)
    tab.work(rounds=2)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    tab.inspect("wallet-success")
    page.evaluate(REPLACE, f"checkout-sent:{tab.order_id}")
    page.reload()
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    expect(page.locator(".transaction")).to_have_count(1)


def test_a_wallet_that_can_takes_both_in_one(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    wallet.is_atomic, wallet.chain = True, hex(CHAIN)
    wallet.inject(tab.page, "Smart Wallet")
    page = choose(tab, "WETH")
    with page.expect_response("**/report"):
        pay_button(page).click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    methods = [method for _, method in wallet.asked]
    assert (methods.count("wallet_sendCalls"), methods.count("eth_sendTransaction")) == (1, 0)
    assert merchants_balance(tab, net) == PRICE
    (batch,) = wallet.batches.values()
    assert [row[1] for row in reported(tab)] == [batch]
    events = net.chain.rpc("eth_getTransactionReceipt", batch)["logs"]
    assert APPROVAL in [row["topics"][0] for row in events], "permission and payment are one transaction"
    tab.work()
    net.chain.mine(3)
    tab.work(rounds=2)
    expect(page.get_by_role("heading", name="Payment complete")).to_be_visible()
    assert {tx_hash for _, tx_hash in tab.shop.state(tab.order_id).main_transactions} == {batch}


def test_a_batch_that_fails_leaves_no_permission_behind(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    """The pool breaks between the trial and the transaction: all or nothing is nothing."""
    weth, usdc = (net.tokens[symbol].address for symbol in ("WETH", "USDC"))
    pool = net.v3_factory("getPool", weth, usdc, 500)
    wallet.is_atomic, wallet.chain = True, hex(CHAIN)
    wallet.before_batch = lambda: net.chain.set_code(pool, REVERTS)
    wallet.inject(tab.page, "Smart Wallet")
    page = choose(tab, "WETH")
    pay_button(page).click()
    expect_problem(page, "The network refused the transaction; the money stayed in your wallet")
    assert merchants_balance(tab, net) == 0
    assert net.tokens["WETH"]("allowance", PAYER, fact("uniswap_v3", CHAIN, "router")) == 0
    assert net.balance(PAYER, "WETH") == 10**18


@pytest.mark.parametrize("declined", ["wallet_switchEthereumChain", "eth_sendTransaction"])
def test_who_declines_has_paid_nothing_and_may_try_again(
    tab: Tab, net: MainNet, wallet: TestWallet, declined: str
) -> None:
    wallet.inject(tab.page, "Test Wallet")
    wallet.declines = {declined}
    page = choose(tab, "ETH")
    pay_button(page).click()
    expect_problem(page, "You declined in your wallet, so nothing was sent.")
    expect(pay_button(page)).to_be_focused()
    tab.inspect(f"wallet-declined-{declined}")
    assert merchants_balance(tab, net) == 0
    wallet.declines = set()
    with page.expect_response("**/report"):
        pay_button(page).click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    assert merchants_balance(tab, net) == PRICE


def test_a_permission_stays_when_the_payment_is_declined(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    """Found by a user: that nothing was sent was said of a permission that the network had taken."""
    wallet.inject(tab.page, "Test Wallet")
    page = choose(tab, "WETH")
    expect(page.locator("#prompts")).to_contain_text("may ask twice")
    wallet.declines_from = 2
    pay_button(page).click()
    expect_problem(page, "so no payment was sent. The permission that you gave stays.")
    expect(page.locator("#problem")).not_to_contain_text("nothing was sent")
    expect(page.locator("#prompts")).to_contain_text("asks once")
    assert net.tokens["WETH"]("allowance", PAYER, fact("uniswap_v3", CHAIN, "router")) > 0
    tab.inspect("wallet-permission-stays")
    sent = [method for _, method in wallet.asked].count("eth_sendTransaction")
    wallet.declines_from = 0
    with page.expect_response("**/report"):
        pay_button(page).click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    assert [method for _, method in wallet.asked].count("eth_sendTransaction") == sent + 1
    assert merchants_balance(tab, net) == PRICE


def test_without_a_wallet_the_page_says_what_to_do(tab: Tab) -> None:
    page = choose(tab, "ETH")
    page.locator("#pay-button").click()
    expect(page.get_by_text("No wallet was found in this browser.").filter(visible=True)).to_be_in_viewport(ratio=1)
    tab.inspect("wallet-none")


def test_too_little_is_said_before_anything_is_signed(tab: Tab, wallet: TestWallet) -> None:
    tab.expected.append("409")
    wallet.inject(tab.page, "Test Wallet")
    page = choose(tab, "USDC")
    pay_button(page).click()
    expect_problem(page, "This wallet holds 0.00 USDC on Base, and 42.50 USDC are needed.")
    tab.inspect("wallet-too-little")
    assert "eth_sendTransaction" not in [method for _, method in wallet.asked]


def test_a_network_that_the_wallet_does_not_know_is_offered_with_public_endpoints(
    tab: Tab, net: MainNet, wallet: TestWallet
) -> None:
    wallet.knows = frozenset({"0x1"})
    wallet.inject(tab.page, "Test Wallet")
    page = tab.visit(tab.shop.real_order(EnvMode.LIVE, address=f"0x{next(ADDRESSES):040x}"))
    choose_again(page, "ETH")
    wallet.declines = {"wallet_addEthereumChain"}
    pay_button(page).click()
    expect_problem(page, "You declined in your wallet, so nothing was sent.")
    assert (wallet.added, merchants_balance(tab, net)) == ([], 0)
    wallet.declines = set()
    with page.expect_response("**/report"):
        pay_button(page).click()
    (offered,) = wallet.added
    assert (offered["chainId"], offered["chainName"]) == ("0x2105", "Base")
    assert offered["nativeCurrency"] == {"name": "Ether", "symbol": "ETH", "decimals": 18}
    assert offered["rpcUrls"] == ["https://mainnet.base.org"], "never the operator's"
    assert merchants_balance(tab, net) == PRICE


def test_a_network_of_a_test_order_is_named_only(tab: Tab, wallet: TestWallet) -> None:
    """It may rehearse a main net, where the wallet would pay with real money."""
    wallet.knows = frozenset({"0x1"})
    wallet.inject(tab.page, "Test Wallet")
    page = choose(tab, "ETH")
    pay_button(page).click()
    expect_problem(page, "Your wallet does not know Base. Add that network in the wallet")
    assert wallet.added == []
    assert "eth_sendTransaction" not in [method for _, method in wallet.asked]


def test_of_several_wallets_the_customer_chooses(tab: Tab, net: MainNet, wallet: TestWallet) -> None:
    wallet.inject(tab.page, "Red Wallet", "Blue <b>Wallet</b>")
    page = choose(tab, "ETH")
    pay_button(page).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button")).to_have_count(3)
    tab.inspect("wallet-choice")
    page.keyboard.press("Escape")
    expect_problem(page, "You chose no wallet.")
    pay_button(page).click()
    with page.expect_response("**/report"):
        dialog.get_by_role("button", name="Blue <b>Wallet</b>").click()
    assert {name for name, method in wallet.asked if method != "eth_accounts"} == {"Blue <b>Wallet</b>"}
    assert merchants_balance(tab, net) == PRICE


def test_a_report_that_is_lost_is_repeated_and_the_payment_never_denied(
    tab: Tab, net: MainNet, wallet: TestWallet
) -> None:
    tab.expected.append("Failed to load resource")
    wallet.inject(tab.page, "Test Wallet")
    page = choose(tab, "ETH")
    forget_reports(tab)
    page.route("**/report", lambda route: route.abort())
    pay_button(page).click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    assert reported(tab) == []
    page.unroute("**/report")
    with page.expect_response("**/report"):
        page.reload()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    assert len(reported(tab)) == 1
