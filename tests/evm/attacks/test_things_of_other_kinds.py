"""Who buys something of a customer pays no order with it, whatever kind of thing it is and whoever awaits a refund."""

from __future__ import annotations

import pytest

from tests.evm.attacks.test_trading_partners import OWNER, THIEF, approve, assign, taken, wallet
from tests.support.across import make_word
from tests.support.attacks import BASE, ETHEREUM, run
from tests.support.claims import may_claim
from tests.support.evidence import data_of
from tests.support.evm import ACTOR, FOREVER, Contract
from tests.support.settlement import PRICE, ChainShop, open_another, transfer_data
from tests.support.uniswap import _v2_core
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns

CONTRACTS = {
    "hand_over": "thing",
    "hand_over_some": "thing",
    "hand_over_kitty": "kitty",
    "hand_over_numbered": "odd_thing",
    "hand_over_punk": "odd_thing",
    "hand_over_and_say_who": "odd_thing",
    "hand_over_at_length": "odd_thing",
}


def sell(shop: ChainShop, runner: Contract, how: str, seller: str, tail: bytes) -> tuple[str, str]:
    """Have a thief buy a thing, with the price going to the merchant."""
    buyer, thing = wallet(shop, THIEF, USDC=PRICE), shop.nets[BASE].chain.deploy(compiled(CONTRACTS[how]))
    approve(shop, buyer, "USDC", runner)
    buy = run(
        runner,
        (shop.token(BASE), 0, taken(buyer.address, shop.address, PRICE)),
        (thing.address, 0, data_of(thing, how, seller, buyer.address)),
    )
    return buyer.send(runner.address, buy + tail), buyer.address


@pytest.mark.rule("evidence.2")
@pytest.mark.parametrize("how", sorted(CONTRACTS))
@pytest.mark.parametrize("is_named", [False, True])
def test_who_buys_a_thing_of_whatever_kind_pays_no_order_with_it(
    shop: ChainShop, runner: Contract, how: str, is_named: bool
) -> None:
    (victims, _), (thiefs, reference) = shop.order(), shop.order()
    seller = shop.customer(BASE, "seller")
    tx_hash, buyer = sell(shop, runner, how, seller.address, reference if is_named else b"")
    shop.look()
    assert shop.unmatched() == ([("other_payer", thiefs)] if is_named else [("no_order", "")])
    assert not may_claim(shop, thiefs, tx_hash, buyer)
    assign(shop, victims)
    assert (shop.outcome(victims), shop.outcome(thiefs)) == ("success/", "created/")


@pytest.mark.rule("evidence.2")
def test_what_is_paid_beside_the_price_is_not_believed(shop: ChainShop, runner: Contract) -> None:
    """The thing's contract is a token too, of which the thief pays the merchant a unit: it was believed."""
    thiefs, reference = shop.order()
    seller, buyer = shop.customer(BASE, "seller"), wallet(shop, THIEF, USDC=PRICE)
    thing = shop.nets[BASE].chain.deploy(compiled("sold_token"))
    approve(shop, buyer, "USDC", runner)
    buy = run(
        runner,
        (shop.token(BASE), 0, taken(buyer.address, shop.address, PRICE)),
        (thing.address, 0, data_of(thing, "hand_over_and_pay", seller.address, buyer.address, shop.address)),
    )
    buyer.send(runner.address, buy + reference)
    shop.look()
    assert (shop.outcome(thiefs), shop.unmatched()) == ("created/", [("other_payer", thiefs)])


@pytest.mark.rule("evidence.2")
@pytest.mark.parametrize("how", sorted(CONTRACTS))
def test_who_awaits_a_refund_hands_nothing_over_for_nothing(shop: ChainShop, runner: Contract, how: str) -> None:
    """A thief with a vendor's account of his own has a cent's refund to the seller open, and never signs it."""
    seller, others = shop.customer(BASE, "seller"), open_another(shop, f"thief beside {shop.address} {how}")
    bait, label = others.order(order_price={"currency": "USDC", "amount": 1, "decimals": 2})
    shop.customer(BASE, "thief").pay(shop.token(BASE), others.address, PRICE // 100, label)
    shop.look()
    shop.finalise()
    assert others.shop.post(f"/api/v1/payment/{bait}/refund", {"to": seller.address}).status_code == 200
    (victims, _), (thiefs, reference) = shop.order(), shop.order()
    sell(shop, runner, how, seller.address, reference)
    shop.look()
    assert (shop.outcome(thiefs), shop.outcome(victims)) == ("created/", "created/")


@pytest.mark.rule("evidence.2")
def test_who_awaits_a_refund_of_the_same_merchant_hands_nothing_over_for_nothing(
    shop: ChainShop, runner: Contract
) -> None:
    seller = shop.customer(BASE, "seller")
    bait, label = shop.order()
    seller.pay(shop.token(BASE), shop.address, PRICE, label)
    shop.look()
    shop.finalise()
    assert shop.shop.post(f"/api/v1/payment/{bait}/refund").status_code == 200
    thiefs, _ = shop.order()
    tx_hash, buyer = sell(shop, runner, "hand_over", seller.address, b"")
    shop.look()
    assert not may_claim(shop, thiefs, tx_hash, buyer)


@pytest.mark.parametrize("what", ["points", "events"])
def test_points_for_a_payment_are_nobodys_loss(shop: ChainShop, runner: Contract, what: str) -> None:
    """They come into being in the payer's call; an event that names only who pays and is paid says nothing else."""
    order_id, reference = shop.order()
    payer, token = wallet(shop, OWNER, USDC=PRICE), shop.nets[BASE].chain.deploy(compiled("eager_token"))
    punk = shop.nets[BASE].chain.deploy(compiled("odd_thing"))
    approve(shop, payer, "USDC", runner)
    told = {
        "points": (token.address, 0, data_of(token, "mint", payer.address, 7)),
        "events": (punk.address, 0, data_of(punk, "hand_over_punk", payer.address, shop.address)),
    }[what]
    pay = run(runner, (shop.token(BASE), 0, taken(payer.address, shop.address, PRICE)), told)
    payer.send(runner.address, pay + reference)
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    (refund,) = shop.shop.post(f"/api/v1/payment/{order_id}/refund").get_json()["refunds"]
    assert refund["to"].lower() == payer.address


@pytest.mark.rule("evidence.2")
@pytest.mark.parametrize("made_for", ["somebody", "a pair"])
def test_what_comes_into_being_and_is_sold_for_the_merchants_money_was_somebodys(
    shop: ChainShop, runner: Contract, made_for: str
) -> None:
    """As of a savings contract, whose events tell of nobody that he has less: it mints dollars to a market maker."""
    thiefs, reference = shop.order()
    net, usdc = shop.nets[BASE], shop.token(BASE)
    thief, token = wallet(shop, THIEF, WETH=1), net.chain.deploy(compiled("eager_token"))
    net.v2_router("addLiquidity", *add_liquidity(shop, token))
    pair = net.chain.at(net.v2_factory("getPair", token.address, usdc), _v2_core("UniswapV2Pair")["abi"])
    approve(shop, thief, "WETH", runner)
    path = [token.address, usdc]
    amounts = (0, PRICE) if int(token.address, 16) < int(usdc, 16) else (PRICE, 0)
    maker = pair if made_for == "a pair" else runner
    swap = {
        "a pair": (pair.address, data_of(pair, "swap", *amounts, shop.address, b"")),
        "somebody": (
            net.v2_router.address,
            data_of(net.v2_router, "swapExactTokensForTokens", 10**19, 0, path, shop.address, FOREVER),
        ),
    }[made_for]
    pay = run(
        runner,
        (shop.token(BASE, "WETH"), 0, taken(thief.address, runner.address, 1)),
        (token.address, 0, data_of(token, "mint", maker.address, 10**19)),
        (swap[0], 0, swap[1]),
    )
    thief.send(runner.address, pay + reference, gas=hex(3 * 10**6))
    shop.look()
    assert (shop.outcome(thiefs), shop.unmatched()) == ("created/", [("other_payer", thiefs)])


def add_liquidity(shop: ChainShop, token: Contract) -> tuple[object, ...]:
    token("mint", ACTOR, 10**24)
    return (token.address, shop.token(BASE), 10**22, 10**10, 0, 0, ACTOR, FOREVER)


@pytest.mark.rule("evidence.2")
def test_what_is_handed_over_while_a_bridge_runs_is_handed_over(shop: ChainShop, runner: Contract) -> None:
    """The thief has a bridge deliver a token of his own, during whose transfer the thing changes hands."""
    thiefs, reference = shop.order()
    net, seller = shop.nets[BASE], shop.customer(BASE, "seller")
    net.fund(runner.address, "USDC", PRICE)
    token, punk = (net.chain.deploy(compiled(name)) for name in ("eager_token", "odd_thing"))
    token("mint", runner.address, 1)
    token("plan", punk.address, data_of(punk, "hand_over_punk", seller.address, runner.address))
    relay = (
        *(make_word(runner.address), make_word(runner.address), bytes(32), make_word(token.address)),
        *(make_word(token.address), 1, 1, ETHEREUM, 10**9, int(net.chain.now()) + 1_000, 0, b""),
    )
    fill = data_of(net.spoke_pool, "fillRelay", relay, ETHEREUM, make_word(runner.address))
    buy = run(
        runner,
        (shop.token(BASE), 0, transfer_data(shop.address, PRICE)),
        (net.spoke_pool.address, 0, fill),
    )
    data = run(runner, (runner.address, 0, buy + reference))
    wallet(shop, THIEF).send(runner.address, data, gas=hex(3 * 10**6))
    shop.look()
    assert (shop.outcome(thiefs), shop.unmatched()) == ("created/", [("other_payer", thiefs)])
