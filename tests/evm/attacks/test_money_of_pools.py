"""A pool's money is not nobody's: fees and positions in it are owed to somebody, and no event says that he has less."""

from __future__ import annotations

import pytest
from eth_abi import encode

from tests.evm.attacks.test_trading_partners import THIEF, approve, taken, wallet
from tests.evm.test_evidence_swaps import multicall, v3_router
from tests.support.attacks import BASE, run
from tests.support.claims import may_claim
from tests.support.evidence import data_of
from tests.support.evm import ACTOR, FOREVER, Contract
from tests.support.settlement import PRICE, ChainShop, somebody
from tests.support.uniswap import _v2_core
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns

SPECK, WEI = 10**4, 10**15


def order_tokens(shop: ChainShop) -> list[str]:
    return sorted((shop.token(BASE, "WETH"), shop.token(BASE)), key=lambda each: int(each, 16))


def lock_position(shop: ChainShop) -> tuple[Contract, int]:
    """Have a locker hold a position of the merchant's, and let somebody's swap earn fees for it."""
    net, router = shop.nets[BASE], v3_router(shop.nets[BASE])
    net.pool("WETH", 10**21, "USDC", 4 * 10**12, 500)
    locker = net.chain.deploy(compiled("locker"), net.positions.address, shop.address)
    amounts = [10**21 if each == shop.token(BASE, "WETH") else 4 * 10**12 for each in order_tokens(shop)]
    position = (*order_tokens(shop), 500, -887270, 887270, *amounts, 0, 0, locker.address, FOREVER)
    net.positions("mint", position)
    number = net.positions("totalSupply")
    assert net.positions("ownerOf", number).lower() == locker.address.lower()
    trader = shop.customer(BASE, "trader", USDC=40_000 * PRICE)
    approve(shop, trader, "USDC", router)
    ends = (shop.token(BASE), shop.token(BASE, "WETH"), 500, trader.address)
    trader.send(router.address, data_of(router, "exactInputSingle", (*ends, 40_000 * PRICE, 0, 0)))
    return locker, number


@pytest.mark.rule("evidence.2")
@pytest.mark.parametrize("swaps", [0, 1, 2])
@pytest.mark.parametrize("what", ["fees", "a position"])
def test_what_a_pool_owes_pays_no_order_of_who_swaps_a_speck_in_it(shop: ChainShop, what: str, swaps: int) -> None:
    locker, number = lock_position(shop)
    net, weth = shop.nets[BASE], shop.token(BASE, "WETH")
    (owners, _), (thiefs, reference) = shop.order(), shop.order()
    thief, tool = wallet(shop, THIEF, WETH=10**12), net.chain.deploy(compiled("pool_tool"))
    approve(shop, thief, "WETH", tool)
    paid = data_of(locker, "claim", number) if what == "fees" else data_of(locker, "pay_out", number, 10**12)
    pool = net.v3_factory("getPool", *order_tokens(shop), 500)
    data = data_of(tool, "go", weth, pool, order_tokens(shop)[0] == weth, SPECK, swaps, locker.address, paid)
    tx_hash = thief.send(tool.address, data + reference, gas=hex(3 * 10**6))
    shop.look()
    assert ("other_payer", thiefs) in shop.unmatched()
    assert (shop.outcome(thiefs), shop.outcome(owners)) == ("created/", "created/")
    assert not may_claim(shop, thiefs, tx_hash, thief.address)


@pytest.mark.rule("refunds.16")
def test_what_a_pool_owes_goes_back_to_nobody_by_itself(shop: ChainShop, runner: Contract) -> None:
    """Somebody's liquidity lies in a pair, and anybody may have it burnt for whom he likes: for the merchant, alone."""
    order_id, _ = shop.order()
    pair = burnable_pair(shop)
    shop.customer(BASE, "anybody").send(pair.address, data_of(pair, "burn", shop.address))
    shop.look()
    assert {reason for reason, _ in shop.unmatched()} == {"no_order"}
    assign_dollars(shop, order_id)
    shop.finalise()
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund")
    assert (answer.status_code, answer.get_json()["error"][0]["path"]) == (400, "to")


def assign_dollars(shop: ChainShop, order_id: str) -> None:
    (row,) = [row for row in shop.shop.payments() if row.token_address == shop.token(BASE)]
    answer = shop.shop.post(f"/api/v1/unmatched_transfer/{row.public_id}/assign", {"payment_order_id": order_id})
    assert answer.status_code == 200
    shop.look()


def burnable_pair(shop: ChainShop) -> Contract:
    """Return a pair that somebody has sent his share of, as its own routers do just before they burn it."""
    pair = pair_of(shop)
    pair("transfer", pair.address, pair("balanceOf", ACTOR) // 1_000)
    return pair


def pair_of(shop: ChainShop) -> Contract:
    net = shop.nets[BASE]
    net.pair("WETH", 10**21, "USDC", 4 * 10**12)
    address = net.v2_factory("getPair", *order_tokens(shop))
    return net.chain.at(address, _v2_core("UniswapV2Pair")["abi"])


@pytest.mark.rule("evidence.2")
@pytest.mark.parametrize("what", ["burn", "skim"])
def test_what_lies_in_a_pair_pays_no_order_of_who_swaps_in_it(shop: ChainShop, runner: Contract, what: str) -> None:
    """The thief swaps dollars that cover what leaves the pair, and keeps the coin."""
    thiefs, reference = shop.order()
    pair, usdc, dollars = burnable_pair(shop), shop.token(BASE), 3 * 10**10
    shop.nets[BASE].fund(pair.address, "USDC", 10 * PRICE)
    thief = wallet(shop, THIEF, USDC=dollars)
    approve(shop, thief, "USDC", runner)
    amounts = (0, 10**18) if order_tokens(shop)[0] == usdc else (10**18, 0)
    data = run(
        runner,
        (pair.address, 0, data_of(pair, what, shop.address)),
        (usdc, 0, taken(thief.address, pair.address, dollars)),
        (pair.address, 0, data_of(pair, "swap", *amounts, thief.address, b"")),
    )
    tx_hash = thief.send(runner.address, data + reference)
    shop.look()
    assert set(shop.unmatched()) == {("other_payer", thiefs)}
    assert shop.outcome(thiefs) == "created/"
    assert not may_claim(shop, thiefs, tx_hash, thief.address)


@pytest.mark.rule("evidence.2")
@pytest.mark.parametrize("through", ["a pair", "a router"])
def test_who_swaps_what_others_put_in_names_nothing(shop: ChainShop, runner: Contract, through: str) -> None:
    """A victim lets an executor put coin of his into an exchange. An inner call swaps it, with a speck beside it."""
    (victims, _), (thiefs, reference) = shop.order(), shop.order()
    net, usdc, weth = shop.nets[BASE], shop.token(BASE), shop.token(BASE, "WETH")
    pair, router, inner = pair_of(shop), v3_router(net), net.chain.deploy(compiled("runner"))
    net.pool("WETH", 10**21, "USDC", 4 * 10**12, 500)
    thief, victim = wallet(shop, THIEF, USDC=1), shop.customer(BASE, "victim", WETH=10 * WEI)
    approve(shop, thief, "USDC", runner)
    approve(shop, victim, "WETH", runner)
    amounts = (PRICE, 0) if order_tokens(shop)[0] == usdc else (0, PRICE)
    swap = {
        "a pair": (pair.address, 0, data_of(pair, "swap", *amounts, shop.address, b"")),
        "a router": (router.address, 0, data_of(router, "exactInputSingle", (weth, usdc, 500, shop.address, 0, 0, 0))),
    }[through]
    pay = run(inner, (usdc, 0, taken(runner.address, somebody("nobody"), 1)), swap) + reference
    data = run(
        runner,
        (weth, 0, taken(victim.address, swap[0], WEI)),
        (usdc, 0, taken(thief.address, runner.address, 1)),
        (usdc, 0, data_of(net.tokens["USDC"], "approve", inner.address, 1)),
        (inner.address, 0, pay),
    )
    thief.send(runner.address, data, gas=hex(3 * 10**6))
    shop.look()
    assert shop.unmatched() == [("other_payer", thiefs)]
    assert (shop.outcome(thiefs), shop.outcome(victims)) == ("created/", "created/")


@pytest.mark.parametrize(("left", "outcome"), [(0, "success/"), (PRICE // 200, "success/"), (PRICE, "created/")])
def test_a_speck_that_lies_in_a_router_spoils_no_payment(
    shop: ChainShop, runner: Contract, left: int, outcome: str
) -> None:
    """An account of several calls pays over a router, with the reference behind the router's call. The router spends
    whatever it has."""
    order_id, reference = shop.order(order_price={"currency": "USDC", "amount": 2, "decimals": 0})
    net, router, dai = shop.nets[BASE], v3_router(shop.nets[BASE]), shop.token(BASE, "DAI")
    net.pool("DAI", 10**24, "USDC", 10**12, 500)
    net.fund(runner.address, "DAI", 3 * 10**18)
    net.fund(router.address, "DAI", left * 10**12)
    pull = bytes.fromhex("f2d5d56b") + encode(["address", "uint256"], [dai, 3 * 10**18])
    swap = data_of(router, "exactInputSingle", (dai, shop.token(BASE), 500, shop.address, 0, 0, 0))
    data = run(
        runner,
        (dai, 0, data_of(net.tokens["DAI"], "approve", router.address, 3 * 10**18)),
        (router.address, 0, multicall(pull, swap) + reference),
    )
    shop.customer(BASE, "owner").send(runner.address, data, gas=hex(3 * 10**6))
    shop.look()
    assert shop.outcome(order_id).startswith(outcome)
