"""A payment that names no order: the page has the wallet sign whose money it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from playwright.sync_api import Page, Route, expect

from api.checkout_page.language.strings import load
from api.checkout_page.paying.claims import write_words
from api.domain.env import EnvMode
from tests.browser.chain_shop import ADDRESSES, CHAIN, PRICE, choose, choose_again, pay_button
from tests.browser.conftest import Tab
from tests.browser.wallet import TestWallet
from tests.support.main_net import MainNet

KEY = bytes.fromhex("4c" * 32)
SIGNER = Account.from_key(KEY).address.lower()
HASH = f"0x{'ab' * 32}"
TYPED_DATA = {
    "types": {
        "EIP712Domain": [{"name": "name", "type": "string"}, {"name": "chainId", "type": "uint256"}],
        "Payment": [{"name": "order", "type": "string"}, {"name": "logIndex", "type": "int256"}],
    },
    "primaryType": "Payment",
    "domain": {"name": "Checkout", "chainId": CHAIN},
    "message": {"order": "po_1", "logIndex": 3},
}


@pytest.fixture(scope="module")
def net(net: MainNet) -> MainNet:
    net.fund(SIGNER, "USDC", 10 * PRICE)
    net.fund(SIGNER, "ETH", 10**18)
    net.chain.rpc("anvil_impersonateAccount", SIGNER)
    return net


@pytest.fixture
def wallet(wallet: TestWallet) -> TestWallet:
    wallet.account, wallet.key = SIGNER, KEY
    return wallet


def answer_claims(page: Page, *log_indexes: int) -> list[dict[str, Any]]:
    """Answer for the service what it finds in a transaction; return the signatures that the page hands in."""
    handed_in: list[dict[str, Any]] = []

    def answer(route: Route) -> None:
        if route.request.method == "GET":
            offers = [
                {"log_index": each, "token": "USDC", "amount_text": f"{each}.00 USDC", "typed_data": TYPED_DATA}
                for each in log_indexes
            ]
            return route.fulfill(json={"candidates": offers, "words": write_words(load("en"))})
        handed_in.append(json.loads(route.request.post_data or ""))
        state = page.request.get(f"{page.url}/status").json()
        return route.fulfill(json={**state, "claim_text": "Thank you. This payment counts for the order."})

    page.route("**/claim*", answer)
    return handed_in


def signer_of(signed: dict[str, Any]) -> str:
    return Account.recover_message(encode_typed_data(full_message=TYPED_DATA), signature=signed["signature"]).lower()


def test_who_says_that_they_have_paid_signs_for_it(tab: Tab, wallet: TestWallet) -> None:
    wallet.inject(tab.page, "Signing Wallet")
    page = tab.visit(tab.shop.real_order(EnvMode.TEST))
    handed_in = answer_claims(page, 3)
    choose_again(page, "ETH")
    page.get_by_text("You have paid, and it is not shown here?").click()
    expect(page.locator("#pay-button")).to_be_hidden()
    page.get_by_label("Transaction number (hash)").fill("0x12")
    page.get_by_role("button", name="Sign with the wallet that paid").press("Enter")
    expect(page.locator("#claim-said")).to_contain_text("A transaction number (hash) is 0x and 64 more characters.")
    page.get_by_label("Transaction number (hash)").fill(f" {HASH.upper().replace('X', 'x')} ")
    page.get_by_role("button", name="Sign with the wallet that paid").press("Enter")
    expect(page.locator("#claim-said")).to_have_text("Thank you. This payment counts for the order.")
    tab.inspect("claim-signed")
    (signed,) = handed_in
    assert {key: signed[key] for key in ("chainId", "hash", "logIndex", "account")} == {
        "chainId": CHAIN, "hash": HASH, "logIndex": 3, "account": SIGNER,
    }  # fmt: skip
    assert signer_of(signed) == SIGNER
    expect(page.get_by_role("heading", name="Your wallet is asking you")).to_be_hidden()


def test_of_several_transfers_the_customer_says_which(tab: Tab, wallet: TestWallet) -> None:
    wallet.inject(tab.page, "Signing Wallet")
    page = tab.visit(tab.shop.real_order(EnvMode.TEST))
    handed_in = answer_claims(page, 3, 7)
    page.get_by_text("You have paid, and it is not shown here?").click()
    page.get_by_label("Transaction number (hash)").fill(HASH)
    page.get_by_role("button", name="Sign with the wallet that paid").press("Enter")
    tab.inspect("claim-choice")
    page.get_by_role("button", name="7.00 USDC").click()
    expect(page.locator("#claim-said")).to_contain_text("Thank you.")
    assert [each["logIndex"] for each in handed_in] == [7]


def test_who_does_not_sign_is_told_that_the_money_is_not_lost(tab: Tab, wallet: TestWallet) -> None:
    wallet.inject(tab.page, "Signing Wallet")
    wallet.declines = {"eth_signTypedData_v4"}
    page = tab.visit(tab.shop.real_order(EnvMode.TEST))
    handed_in = answer_claims(page, 3)
    page.get_by_text("You have paid, and it is not shown here?").click()
    page.get_by_label("Transaction number (hash)").fill(HASH)
    page.get_by_role("button", name="Sign with the wallet that paid").press("Enter")
    expect(page.locator("#claim-said")).to_contain_text("You did not sign. The payment was sent and is not lost")
    assert handed_in == []


def test_a_payment_without_the_orders_name_is_signed_for_at_once(tab: Tab, wallet: TestWallet) -> None:
    wallet.inject(tab.page, "Signing Wallet")
    page = choose(tab, "USDC")
    handed_in = answer_claims(page, 3)

    def forget_reference(route: Route) -> None:
        told = route.fetch().json()
        for each in told["transactions"]:
            each["data"] = each["data"][:-32]
        route.fulfill(json={**told, "has_reference": False})

    page.route("**/transactions", forget_reference)
    pay_button(page).click()
    expect(page.get_by_role("heading", name="Payment sent")).to_be_visible()
    expect(page.locator("#claim-said")).to_have_text("Thank you. This payment counts for the order.")
    (signed,) = handed_in
    assert signed["hash"] == page.locator(".transaction .mono").inner_text()
    assert signer_of(signed) == SIGNER


def test_without_a_wallet_who_has_paid_is_not_told_to_pay(tab: Tab) -> None:
    """Found: "No wallet was found in this browser. Pay on your phone"."""
    page = choose(tab, "ETH")
    page.get_by_text("You have paid, and it is not shown here?").click()
    page.get_by_label("Transaction number (hash)").fill(HASH)
    page.get_by_role("button", name="Sign with the wallet that paid").press("Enter")
    said = page.locator("#claim-said")
    expect(said).to_contain_text("Open this page in the wallet that paid, and sign there. Do not pay again.")
    expect(said).not_to_contain_text("Pay on your phone")


def prove(tab: Tab, sent: str) -> None:
    """Have the page prove a payment by what the customer says that its transaction is."""
    tab.page.get_by_text("You have paid, and it is not shown here?").click()
    tab.page.get_by_label("Transaction number (hash)").fill(sent)
    tab.page.get_by_role("button", name="Sign with the wallet that paid").press("Enter")


@pytest.mark.parametrize(("symbol", "blocks"), [("ETH", 1), ("USDC", 100)])
def test_what_was_sent_without_a_reference_is_signed_for_and_counts(
    tab: Tab, net: MainNet, wallet: TestWallet, symbol: str, blocks: int
) -> None:
    """Found: the service took no signature from the page, and said that it does not fit the wallet."""
    wallet.inject(tab.page, "Signing Wallet")
    merchant = f"0x{next(ADDRESSES):040x}"
    net.chain.mine(blocks)  # more than an earlier test has taken back
    tab.shop.work(10)
    tab.visit(tab.shop.real_order(EnvMode.TEST, address=merchant))
    tab.work(10)
    call = {"to": merchant, "value": hex(10**16)}
    if symbol != "ETH":
        call = {"to": net.token(symbol).address, "data": f"0xa9059cbb{int(merchant, 16):064x}{PRICE:064x}"}
    sent = net.chain.rpc("eth_sendTransaction", {"from": SIGNER, "gas": "0x4c4b40", "gasPrice": "0x1", **call})
    net.chain.rpc("evm_setNextBlockTimestamp", int(tab.shop.clock.now().timestamp()))
    net.chain.mine()
    tab.work(10)
    prove(tab, f"https://basescan.org/tx/{sent}")
    expect(tab.page.locator("#claim-said")).to_contain_text("Thank you.")
    net.chain.mine()
    tab.work(20, rounds=2)
    order = tab.shop.state(tab.order_id)
    assert (order.amount_received, order.status_reason) == ((0, "wrong_token") if symbol == "ETH" else (PRICE, ""))


def test_a_transaction_that_is_not_seen_yet_is_no_fault_of_the_page(tab: Tab, wallet: TestWallet) -> None:
    """Found: "Something unexpected happened on this page"."""
    wallet.inject(tab.page, "Signing Wallet")
    page = tab.visit(tab.shop.real_order(EnvMode.TEST))
    prove(tab, HASH)
    said = page.locator("#claim-said")
    expect(said).to_contain_text("On Base we see no payment from this wallet")
    expect(said).to_contain_text("then try again")
    expect(page.get_by_role("button", name="Sign with the wallet that paid")).to_be_enabled()
