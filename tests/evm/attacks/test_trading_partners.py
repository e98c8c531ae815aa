"""Who traded with a customer, lent to him or was drawn from by him: not the payer, on real contracts.

Makers of limit orders, market makers, vaults, lenders and buyers of things lose money to the merchant in a customer's
transaction. Each got the customer's payment for an order of his own once, by a signature or a reference, or was whom a
refund went to.
"""

from __future__ import annotations

import pytest
from eth_abi import encode
from eth_account import Account
from eth_account.signers.local import LocalAccount
from sqlalchemy import update

from api.storage.tables import Payment
from tests.support.attacks import BASE, run
from tests.support.claims import claim, may_claim, sign
from tests.support.evidence import data_of
from tests.support.evm import Contract
from tests.support.settlement import PRICE, ChainShop, Wallet, transfer_data
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns

APPROVE, TRANSFER_FROM = bytes.fromhex("095ea7b3"), bytes.fromhex("23b872dd")
THIEF: LocalAccount = Account.from_key(b"t" * 32)
OWNER: LocalAccount = Account.from_key(b"o" * 32)
WEI = 10**15
"""Of wrapped coin, what a thousandth of a whole one is."""


def taken(owner: str, recipient: str, amount: int) -> bytes:
    return TRANSFER_FROM + encode(["address", "address", "uint256"], [owner, recipient, amount])


def wallet(shop: ChainShop, account: LocalAccount, **funds: int) -> Wallet:
    net, address = shop.nets[BASE], account.address.lower()
    for symbol, amount in ({"ETH": 10**18} | funds).items():
        net.fund(address, symbol, amount)
    return Wallet(net.chain, address)


def approve(shop: ChainShop, who: Wallet, symbol: str, spender: Contract) -> None:
    who.send(shop.token(BASE, symbol), APPROVE + encode(["address", "uint256"], [spender.address, 2**255]))


def deploy_wallet(shop: ChainShop, owner: LocalAccount, **funds: int) -> Contract:
    """Make a contract that does what it is told, and signs by its owner's key."""
    net = shop.nets[BASE]
    made = net.chain.deploy(compiled("signing_wallet"), owner.address)
    for symbol, amount in funds.items():
        net.fund(made.address.lower(), symbol, amount)
    return made


def deploy_account(shop: ChainShop, **funds: int) -> Contract:
    """Make a customer's account, which makes several calls in one transaction."""
    net = shop.nets[BASE]
    made = net.chain.deploy(compiled("runner"))
    for symbol, amount in funds.items():
        net.fund(made.address.lower(), symbol, amount)
    return made


def told(contract: Contract, to: str, data: bytes) -> bytes:
    return data_of(contract, "call", to, 0, data)


def assign(shop: ChainShop, order_id: str) -> None:
    (row,) = shop.shop.payments()
    answer = shop.shop.post(f"/api/v1/unmatched_transfer/{row.public_id}/assign", {"payment_order_id": order_id})
    assert answer.status_code == 200
    shop.look()


def fill(shop: ChainShop, protocol: Contract, victim: Wallet, maker: Wallet, paid: int = WEI) -> bytes:
    """Return the call that fills a limit order: wrapped coin for its maker, his dollars straight to the merchant."""
    usdc, weth = shop.token(BASE), shop.token(BASE, "WETH")
    return run(
        protocol,
        (weth, 0, taken(victim.address, maker.address, paid)),
        (usdc, 0, taken(maker.address, shop.address, PRICE)),
    )


@pytest.mark.rule("evidence.15")
@pytest.mark.parametrize("is_named", [False, True])
def test_the_maker_of_a_limit_order_claims_nothing(shop: ChainShop, runner: Contract, is_named: bool) -> None:
    """Nor is it told safely whose the money was, though the customer names his order: its vendor says so."""
    (victims, reference), (thiefs, _) = shop.order(), shop.order()
    maker, victim = wallet(shop, THIEF, USDC=PRICE), shop.customer(BASE, "victim", WETH=WEI)
    approve(shop, maker, "USDC", runner)
    approve(shop, victim, "WETH", runner)
    tx_hash = victim.send(runner.address, fill(shop, runner, victim, maker) + (reference if is_named else b""))
    shop.look()
    assert shop.unmatched() == ([("other_payer", victims)] if is_named else [("no_order", "")])
    assert not any(may_claim(shop, order_id, tx_hash, maker.address) for order_id in (thiefs, victims))
    assign(shop, victims)
    assert (shop.outcome(victims), shop.outcome(thiefs)) == ("success/", "created/")
    shop.finalise()
    answer = shop.shop.post(f"/api/v1/payment/{victims}/refund")
    assert (answer.status_code, answer.get_json()["error"][0]["path"]) == (400, "to")


def test_who_fills_with_somebody_elses_money_names_nothing(shop: ChainShop, runner: Contract) -> None:
    """Just the same calls as those of a customer who fills a limit order, and the order is the thief's.

    That is why such a call pays no order by itself: the victim had his money taken to the merchant, for a speck.
    """
    (_, (thiefs, reference)) = shop.order(), shop.order()
    victim, thief = wallet(shop, OWNER, USDC=PRICE), shop.customer(BASE, "thief", WETH=1)
    approve(shop, victim, "USDC", runner)
    approve(shop, thief, "WETH", runner)
    thief.send(runner.address, fill(shop, runner, thief, victim, 1) + reference)
    shop.look()
    assert (shop.outcome(thiefs), shop.unmatched()) == ("created/", [("other_payer", thiefs)])


@pytest.mark.rule("evidence.15")
def test_a_market_maker_that_is_paid_first_claims_nothing(shop: ChainShop) -> None:
    """A contract of his hands out dollars for the wrapped coin that it was sent before, as pools do."""
    thiefs, _ = shop.order()
    account, market = deploy_account(shop, WETH=WEI), deploy_wallet(shop, THIEF, USDC=PRICE)
    usdc, weth = shop.token(BASE), shop.token(BASE, "WETH")
    tx_hash = shop.customer(BASE, "owner").send(
        account.address,
        run(
            account,
            (weth, 0, transfer_data(market.address.lower(), WEI)),
            (market.address, 0, told(market, usdc, transfer_data(shop.address, PRICE))),
        ),
    )
    shop.look()
    assert shop.unmatched() == [("no_order", "")]
    assert not any(may_claim(shop, thiefs, tx_hash, each.address) for each in (market, account))


@pytest.mark.rule("evidence.15")
def test_a_vault_that_an_account_draws_from_claims_nothing(shop: ChainShop) -> None:
    (victims, _), (thiefs, _) = shop.order(), shop.order()
    account, vault, token = deploy_account(shop), deploy_wallet(shop, THIEF, USDC=PRICE), shop.token(BASE)
    draw = told(vault, token, transfer_data(account.address.lower(), PRICE))
    pay = transfer_data(shop.address, PRICE)
    owner = shop.customer(BASE, "owner")
    tx_hash = owner.send(account.address, run(account, (vault.address, 0, draw), (token, 0, pay)))
    shop.look()
    assert shop.unmatched() == [("no_order", "")]
    assert not any(may_claim(shop, thiefs, tx_hash, each.address) for each in (vault, account))
    assign(shop, victims)
    assert (shop.outcome(victims), shop.outcome(thiefs)) == ("success/", "created/")


@pytest.mark.rule("evidence.15")
def test_a_vault_that_pays_the_merchant_for_an_account_claims_nothing(shop: ChainShop) -> None:
    thiefs, _ = shop.order()
    account, vault = deploy_account(shop), deploy_wallet(shop, THIEF, USDC=PRICE)
    draw = told(vault, shop.token(BASE), transfer_data(shop.address, PRICE))
    tx_hash = shop.customer(BASE, "owner").send(account.address, run(account, (vault.address, 0, draw)))
    shop.look()
    assert shop.unmatched() == [("no_order", "")]
    assert not may_claim(shop, thiefs, tx_hash, vault.address)


@pytest.mark.rule("evidence.16")
def test_what_a_transaction_names_is_claimed_for_nothing_else(shop: ChainShop) -> None:
    """A customer has a vault pay, and his order stands behind his call: the vault signs for that order only."""
    (victims, reference), (thiefs, _) = shop.order(), shop.order()
    vault = deploy_wallet(shop, THIEF, USDC=PRICE)
    draw = told(vault, shop.token(BASE), transfer_data(shop.address, PRICE))
    tx_hash = shop.customer(BASE, "victim").send(vault.address, draw + reference)
    shop.look()
    assert shop.unmatched() == [("other_payer", victims)]
    assert not may_claim(shop, thiefs, tx_hash, vault.address)
    claim(shop, victims, tx_hash, vault.address, THIEF)
    assert (shop.outcome(victims), shop.outcome(thiefs)) == ("success/", "created/")


@pytest.mark.rule("evidence.16")
def test_what_is_learnt_after_a_signature_binds_too(shop: ChainShop) -> None:
    """The signature was handed in while nobody knew what the calls name."""
    (victims, _), (thiefs, _) = shop.order(), shop.order()
    vault = deploy_wallet(shop, THIEF, USDC=PRICE)
    draw = told(vault, shop.token(BASE), transfer_data(shop.address, PRICE))
    tx_hash = shop.customer(BASE, "victim").send(vault.address, draw)
    shop.look()
    sign(shop, thiefs, tx_hash, vault.address, THIEF)
    with shop.shop.resources.database.write() as session:
        session.execute(update(Payment).values(claimed_order_id=victims))
    shop.pass_time(10)
    shop.look()
    assert (shop.outcome(victims), shop.outcome(thiefs)) == ("created/", "created/")
    with shop.shop.resources.database.write() as session:
        session.execute(update(Payment).values(claimed_order_id=None))
    shop.pass_time(10)
    shop.look()
    assert shop.outcome(thiefs) == "success/"  # it was a good one


@pytest.mark.rule("evidence.15")
def test_who_lends_by_an_allowance_claims_nothing(shop: ChainShop, runner: Contract) -> None:
    """A protocol takes what he let it take straight to the merchant, at a borrower's call."""
    thiefs, _ = shop.order()
    lender = wallet(shop, THIEF, USDC=PRICE)
    approve(shop, lender, "USDC", runner)
    borrow = run(runner, (shop.token(BASE), 0, taken(lender.address, shop.address, PRICE)))
    tx_hash = shop.customer(BASE, "borrower").send(runner.address, borrow)
    shop.look()
    assert shop.unmatched() == [("no_order", "")]
    assert not may_claim(shop, thiefs, tx_hash, lender.address)


@pytest.mark.rule("evidence.2")
@pytest.mark.parametrize("how", ["hand_over", "hand_over_some", "hand_over_several"])
@pytest.mark.parametrize("is_named", [False, True])
def test_who_buys_a_thing_pays_no_order_with_it(shop: ChainShop, runner: Contract, how: str, is_named: bool) -> None:
    """The seller has what it fetches sent to the merchant; the buyer puts an order of his own behind his call."""
    (victims, _), (thiefs, reference) = shop.order(), shop.order()
    buyer, thing = wallet(shop, THIEF, USDC=PRICE), shop.nets[BASE].chain.deploy(compiled("thing"))
    seller = shop.customer(BASE, "seller")
    approve(shop, buyer, "USDC", runner)
    buy = run(
        runner,
        (shop.token(BASE), 0, taken(buyer.address, shop.address, PRICE)),
        (thing.address, 0, data_of(thing, how, seller.address, buyer.address)),
    )
    tx_hash = buyer.send(runner.address, buy + (reference if is_named else b""))
    shop.look()
    assert shop.unmatched() == ([("other_payer", thiefs)] if is_named else [("no_order", "")])
    assert not may_claim(shop, thiefs, tx_hash, buyer.address)
    assign(shop, victims)
    assert (shop.outcome(victims), shop.outcome(thiefs)) == ("success/", "created/")


@pytest.mark.rule("evidence.2")
def test_what_the_merchant_hands_over_was_paid_for_too(shop: ChainShop, runner: Contract) -> None:
    """He sells things from the address at which he is paid: their price is not an order's as well."""
    order_id, reference = shop.order()
    buyer, thing = wallet(shop, OWNER, USDC=PRICE), shop.nets[BASE].chain.deploy(compiled("thing"))
    approve(shop, buyer, "USDC", runner)
    buy = run(
        runner,
        (shop.token(BASE), 0, taken(buyer.address, shop.address, PRICE)),
        (thing.address, 0, data_of(thing, "hand_over", shop.address, buyer.address)),
    )
    tx_hash = buyer.send(runner.address, buy + reference)
    shop.look()
    assert (shop.outcome(order_id), shop.unmatched()) == ("created/", [("other_payer", order_id)])
    assert not may_claim(shop, order_id, tx_hash, buyer.address)


@pytest.mark.rule("refunds.16")
@pytest.mark.parametrize("sells", [False, True])
def test_a_refund_goes_to_nobody_whom_the_customer_drew_from(shop: ChainShop, sells: bool) -> None:
    """His account draws from a vault, or sells a thing, and pays: to whom it goes back is the vendor's to say."""
    order_id, reference = shop.order()
    token, thing = shop.token(BASE), shop.nets[BASE].chain.deploy(compiled("thing"))
    account, vault, owner = deploy_account(shop), deploy_wallet(shop, THIEF, USDC=PRICE), shop.customer(BASE, "owner")
    sale = [(thing.address, 0, data_of(thing, "hand_over", account.address, vault.address))] if sells else []
    draw = told(vault, token, transfer_data(account.address.lower(), PRICE))
    pay = transfer_data(shop.address, PRICE) + reference
    owner.send(account.address, run(account, *sale, (vault.address, 0, draw), (token, 0, pay)))
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund")
    assert (answer.status_code, answer.get_json()["error"][0]["path"]) == (400, "to")
    (made,) = shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"to": account.address}).get_json()["refunds"]
    assert made["to"].lower() == account.address.lower()
