"""What a contract keeps for somebody is his, though somebody else puts as much into it in the same transaction."""

from __future__ import annotations

import pytest

from tests.evm.attacks.test_money_of_pools import order_tokens
from tests.evm.attacks.test_trading_partners import OWNER, THIEF, approve, assign, taken, wallet
from tests.support.attacks import BASE, run
from tests.support.claims import may_claim
from tests.support.evidence import data_of
from tests.support.evm import Contract
from tests.support.settlement import PRICE, ChainShop, transfer_data
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns

MAX = 2**256 - 1


def approve_from(shop: ChainShop, spender: Contract) -> tuple[str, int, bytes]:
    return (shop.token(BASE), 0, data_of(shop.nets[BASE].tokens["USDC"], "approve", spender.address, MAX))


@pytest.mark.rule("evidence.2")
@pytest.mark.parametrize("how", ["two calls", "one call of several", "a call back"])
def test_what_is_kept_for_the_merchant_pays_no_order_of_who_deposits_as_much(
    shop: ChainShop, runner: Contract, how: str
) -> None:
    """Somebody streams his wages to the merchant. The thief deposits as much for himself, and has those paid out."""
    (wages, _), (thiefs, reference) = shop.order(), shop.order()
    usdc, keeper = shop.token(BASE), shop.nets[BASE].chain.deploy(compiled("keeper"))
    employer, thief = wallet(shop, OWNER, USDC=PRICE), wallet(shop, THIEF, USDC=PRICE)
    approve(shop, employer, "USDC", keeper)
    employer.send(keeper.address, data_of(keeper, "deposit", usdc, shop.address, PRICE))
    payer = thief.address if how == "one call of several" else runner.address
    deposit = data_of(keeper, "deposit", usdc, payer, PRICE)
    pay_out = data_of(keeper, "pay_out", usdc, shop.address)
    if payer == thief.address:
        approve(shop, thief, "USDC", keeper)
        to, data = keeper.address, data_of(keeper, "several", [deposit, pay_out]) + reference
    else:  # the thief's own account does both, in a call of its own
        shop.nets[BASE].fund(runner.address, "USDC", PRICE)
        calls: tuple[tuple[str, int, bytes], ...] = ((keeper.address, 0, deposit), (keeper.address, 0, pay_out))
        if how == "a call back":  # as a loan for a moment does
            calls = ((keeper.address, 0, data_of(keeper, "call_back", run(runner, *calls))),)
        both = run(runner, approve_from(shop, keeper), *calls) + reference
        to, data = runner.address, run(runner, (runner.address, 0, both))
    tx_hash = thief.send(to, data, gas=hex(3 * 10**6))
    before = shop.balance(BASE)
    thief.send(keeper.address, data_of(keeper, "pay_out", usdc, payer))  # he has it back
    assert (before, shop.balance(BASE)) == (PRICE, PRICE)
    shop.look()
    assert (shop.outcome(thiefs), shop.unmatched()) == ("created/", [("other_payer", thiefs)])
    assert not may_claim(shop, thiefs, tx_hash, thief.address)
    assign(shop, wages)
    assert shop.outcome(wages) == "success/"


@pytest.mark.rule("evidence.2")
@pytest.mark.parametrize("is_named", [False, True])
def test_who_gives_an_account_what_he_owes_it_has_not_paid_what_it_pays(
    shop: ChainShop, runner: Contract, is_named: bool
) -> None:
    """The account does what its owner has signed, whoever hands it in, as a Safe does. It pays without a reference."""
    (victims, _), (thiefs, reference) = shop.order(), shop.order()
    usdc, account = shop.token(BASE), shop.nets[BASE].chain.deploy(compiled("runner"))
    thief = wallet(shop, THIEF, USDC=PRICE)
    shop.nets[BASE].fund(account.address, "USDC", PRICE)
    approve(shop, thief, "USDC", runner)
    data = run(
        runner,
        (usdc, 0, taken(thief.address, account.address, PRICE)),
        (account.address, 0, run(account, (usdc, 0, transfer_data(shop.address, PRICE)))),
    )
    tx_hash = thief.send(runner.address, data + (reference if is_named else b""))
    shop.look()
    assert shop.outcome(thiefs) == "created/"
    assert not may_claim(shop, thiefs, tx_hash, thief.address)
    assign(shop, victims)
    assert shop.outcome(victims) == "success/"


def test_a_contract_that_hands_on_what_it_is_given_is_nobody(shop: ChainShop) -> None:
    """A checkout takes the customer's money and pays with it, in one call."""
    order_id, reference = shop.order()
    payer, relay = wallet(shop, OWNER, USDC=PRICE), shop.nets[BASE].chain.deploy(compiled("keeper"))
    approve(shop, payer, "USDC", relay)
    payer.send(relay.address, data_of(relay, "forward", shop.token(BASE), shop.address, PRICE) + reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"


def test_a_contract_that_a_pool_calls_back_for_its_pay_is_nobody(shop: ChainShop) -> None:
    """It was given the money before, in the same call, and pays the pool with it when that asks."""
    order_id, reference = shop.order()
    net, usdc, weth = shop.nets[BASE], shop.token(BASE), shop.token(BASE, "WETH")
    net.pool("WETH", 10**21, "USDC", 4 * 10**12, 500)
    payer, tool = wallet(shop, OWNER, USDC=PRICE, WETH=10**12), net.chain.deploy(compiled("pool_tool"))
    approve(shop, payer, "WETH", tool)
    approve(shop, payer, "USDC", tool)
    first, second = order_tokens(shop)
    pool = net.v3_factory("getPool", first, second, 500)
    pay = taken(payer.address, shop.address, PRICE)
    data = data_of(tool, "go", weth, pool, first == weth, 10**4, 1, usdc, pay)
    payer.send(tool.address, data + reference, gas=hex(3 * 10**6))
    shop.look()
    assert shop.outcome(order_id) == "success/"
