"""Who is the payer still, on real contracts: accounts, bundles and signed permissions that somebody else submits."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest
from eth_account import Account
from eth_account.signers.local import LocalAccount

from api.services.ledger.evidence.entries import ENTRY_POINTS
from api.services.settlement.watching.watcher import watch
from tests.evm.attacks.test_trading_partners import approve, deploy_account, deploy_wallet, taken, told, wallet
from tests.support.attacks import BASE, run
from tests.support.claims import claim, may_claim
from tests.support.evidence import permit_of
from tests.support.evm import Contract
from tests.support.main_net import placed
from tests.support.settlement import PRICE, ChainShop, transfer_data
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns

CUSTOMER: LocalAccount = Account.from_key(b"c" * 32)
ANOTHER: LocalAccount = Account.from_key(b"d" * 32)


@pytest.fixture(params=sorted(ENTRY_POINTS))
def entry(shop: ChainShop, request: pytest.FixtureRequest) -> Contract:
    """What makes the calls of bundles, where ERC-4337's is."""
    return placed(shop.nets[BASE].chain, request.param, compiled("runner"))


@pytest.mark.rule("evidence.4")
def test_accounts_of_a_bundle_claim_what_is_theirs(shop: ChainShop, entry: Contract) -> None:
    """Two of them pay without a reference, and each signs for its own transfer."""
    (first, _), (second, _) = shop.order(), shop.order()
    token, pay = shop.token(BASE), transfer_data(shop.address, PRICE)
    accounts = [deploy_wallet(shop, owner, USDC=PRICE) for owner in (CUSTOMER, ANOTHER)]
    calls = [(each.address, 0, told(each, token, pay)) for each in accounts]
    tx_hash = shop.customer(BASE, "bundler").send(entry.address, run(entry, *calls))
    shop.look()
    for order_id, account, owner in zip((first, second), accounts, (CUSTOMER, ANOTHER), strict=True):
        claim(shop, order_id, tx_hash, account.address, owner)
    assert (shop.outcome(first), shop.outcome(second), shop.unmatched()) == ("success/", "success/", [])


@pytest.mark.rule("evidence.2")
def test_a_bundler_who_gives_an_account_money_names_nothing_for_it(
    shop: ChainShop, runner: Contract, entry: Contract
) -> None:
    """He hands it what he owes it, in the bundle in which it pays, so that only he has less in the end."""
    (victims, _), (thiefs, reference) = shop.order(), shop.order()
    account, token = deploy_wallet(shop, CUSTOMER, USDC=PRICE), shop.token(BASE)
    thief = shop.customer(BASE, "thief", USDC=2 * PRICE)
    approve(shop, thief, "USDC", runner)
    operation = (account.address, 0, told(account, token, transfer_data(shop.address, PRICE)))
    calls = [
        (token, 0, taken(thief.address, account.address.lower(), 2 * PRICE)),
        (entry.address, 0, run(entry, operation)),
    ]
    tx_hash = thief.send(runner.address, run(runner, *calls) + reference)
    shop.look()
    assert (shop.outcome(thiefs), shop.unmatched()) == ("created/", [("no_order", "")])
    assert not may_claim(shop, thiefs, tx_hash, thief.address)
    claim(shop, victims, tx_hash, account.address, CUSTOMER)
    assert (shop.outcome(victims), shop.outcome(thiefs)) == ("success/", "created/")


@pytest.mark.rule("refunds.6")
def test_a_refund_goes_to_the_account_that_a_bundle_called(shop: ChainShop, entry: Contract) -> None:
    (order_id, reference), (thiefs, stolen) = shop.order(), shop.order()
    account, token = deploy_account(shop, USDC=PRICE), shop.token(BASE)
    paid = run(account, (token, 0, transfer_data(shop.address, PRICE) + reference))
    shop.customer(BASE, "bundler").send(entry.address, run(entry, (account.address, 0, paid)) + stolen)
    shop.look()
    shop.finalise()
    assert (shop.outcome(order_id), shop.outcome(thiefs)) == ("success/", "created/")
    (made,) = shop.shop.post(f"/api/v1/payment/{order_id}/refund").get_json()["refunds"]
    assert made["to"].lower() == account.address.lower()


@pytest.mark.rule("evidence.3")
@pytest.mark.parametrize("is_named", [False, True])
def test_who_signed_a_permission_may_sign_for_what_it_paid(shop: ChainShop, runner: Contract, is_named: bool) -> None:
    """A relayer submits it. If he names an order, it is for that order that the payer may sign, and for no other."""
    (first, reference), (second, _) = shop.order(), shop.order()
    net, token = shop.nets[BASE], shop.token(BASE)
    payer = wallet(shop, CUSTOMER, USDC=PRICE)
    permit = permit_of(net.tokens["USDC"], CUSTOMER, runner.address, PRICE)
    calls = [(token, 0, permit), (token, 0, taken(payer.address, shop.address, PRICE))]
    data = run(runner, *calls) + (reference if is_named else b"")
    tx_hash = shop.customer(BASE, "relayer").send(runner.address, data)
    shop.look()
    assert shop.unmatched() == ([("other_payer", first)] if is_named else [("no_order", "")])
    assert may_claim(shop, second, tx_hash, payer.address) == (not is_named)
    claim(shop, first, tx_hash, payer.address, CUSTOMER)
    assert (shop.outcome(first), shop.outcome(second)) == ("success/", "created/")


def test_a_permission_that_was_paid_for_is_a_trade(shop: ChainShop, runner: Contract) -> None:
    """A market maker's signature is in the customer's transaction, and so is what he got for it."""
    thiefs, _ = shop.order()
    usdc, weth = shop.token(BASE), shop.token(BASE, "WETH")
    maker, customer = wallet(shop, CUSTOMER, USDC=PRICE), shop.customer(BASE, "taker", WETH=10**15)
    approve(shop, customer, "WETH", runner)
    calls = [
        (usdc, 0, permit_of(shop.nets[BASE].tokens["USDC"], CUSTOMER, runner.address, PRICE)),
        (weth, 0, taken(customer.address, maker.address, 10**15)),
        (usdc, 0, taken(maker.address, shop.address, PRICE)),
    ]
    tx_hash = customer.send(runner.address, run(runner, *calls))
    shop.look()
    assert not may_claim(shop, thiefs, tx_hash, maker.address)


@pytest.mark.parametrize("who", ["nobody", "the account", "the vault", "the owner"])
def test_whoever_pays_or_is_drawn_from_is_screened(shop: ChainShop, who: str) -> None:
    order_id, reference = shop.order()
    account, vault, token = deploy_account(shop), deploy_wallet(shop, CUSTOMER, USDC=PRICE), shop.token(BASE)
    owner = shop.customer(BASE, "owner")
    rejected = {"the account": account.address, "the vault": vault.address, "the owner": owner.address}.get(who, "")
    resources = replace(shop.shop.resources, screen=lambda senders: {rejected.lower()} & set(senders))
    draw = told(vault, token, transfer_data(account.address.lower(), PRICE))
    pay = transfer_data(shop.address, PRICE) + reference
    owner.send(account.address, run(account, (vault.address, 0, draw), (token, 0, pay)))
    for _ in range(2):
        shop.pass_time(2)
        watch(resources)
    assert shop.outcome(order_id) == ("success/" if who == "nobody" else "processing/screening_rejected")


def test_at_whom_the_screen_fails_only_he_waits(shop: ChainShop) -> None:
    """Found: the whole chain did, for as long as he liked. What was read in vain is read again."""
    (thiefs, thiefs_reference), (order_id, reference) = shop.order(), shop.order()
    thief, customer = shop.customer(BASE, "thief"), shop.customer(BASE, "customer")
    fails = {thief.address}

    def screen(addresses: Collection[str]) -> Collection[str]:
        if not fails.isdisjoint(addresses):
            raise KeyError
        return ()

    resources = replace(shop.shop.resources, screen=screen)

    def look() -> None:
        for _ in range(2):
            shop.pass_time(2)
            watch(resources)

    thief.pay(shop.token(BASE), shop.address, PRICE, thiefs_reference, mine=False)
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    look()
    assert [shop.outcome(each) for each in (thiefs, order_id)] == ["created/", "success/"]
    shop.pass_time(30)
    look()
    fails.clear()
    shop.pass_time(60)
    look()
    assert shop.outcome(thiefs) == "success/"


def test_a_bundler_and_who_else_is_in_the_bundle_are_not_screened(shop: ChainShop, entry: Contract) -> None:
    """Their choice is not the payer's."""
    order_id, reference = shop.order()
    token, bundler = shop.token(BASE), shop.customer(BASE, "bundler")
    account, other = (deploy_account(shop, USDC=PRICE) for _ in range(2))
    rejected = {bundler.address, other.address.lower()}
    resources = replace(shop.shop.resources, screen=lambda senders: rejected & set(senders))
    calls = [
        (each.address, 0, run(each, (token, 0, transfer_data(to, PRICE) + reference)))
        for each, to in ((account, shop.address), (other, bundler.address))
    ]
    bundler.send(entry.address, run(entry, *calls))
    for _ in range(2):
        shop.pass_time(2)
        watch(resources)
    assert shop.outcome(order_id) == "success/"
