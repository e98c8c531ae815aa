"""Routes executed on real contracts: what is offered was tried, and brings at least what is said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from eth_abi import decode

from routing_engine.markets import ConstantProductPool
from routing_engine.markets.bridges import across_lane
from routing_engine.reference import token_registry
from tests.support.across import LIFE_S, Relayers, fill
from tests.support.databases import Databases
from tests.support.executing import ask_routes, follow, forget_inquiries, send_leg, write_question
from tests.support.main_net import MainNet, fact, running_main_net
from tests.support.settlement import ChainShop, chain_shop, somebody
from tests.support.universal import deploy_periphery, deploy_router

BASE, ETHEREUM = 8453, 1
RECIPIENT = somebody("recipient of routes")
REVERTS = bytes.fromhex("5f5ffd")


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base, running_main_net(ETHEREUM) as ethereum:
        for net in (base, ethereum):
            net.pair("WETH", 10**21, "USDC", 3 * 10**12)
            net.pool("WETH", 10**22, "USDC", 3 * 10**13, 500)
            deploy_router(net)
            deploy_periphery(net)
        base.pool("DAI", 3 * 10**24, "USDC", 3 * 10**12, 500)
        yield {BASE: base, ETHEREUM: ethereum}


@pytest.fixture
def shop(
    nets: Mapping[int, MainNet], tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[ChainShop]:
    lane = across_lane(
        token_registry.token("USDC", ETHEREUM), token_registry.token("USDC", BASE), capital_fee_e18=10**14,
        lp_fee_e18=0, relayer_gas_fee=10_000, min_deposit=1, max_deposit=10**15, fill_time_s=4,
    )  # fmt: skip
    nobodys = ConstantProductPool(
        id="8453:nobodys", protocol="nobody_swap", token0=token_registry.token("USDT", BASE),
        token1=token_registry.token("USDC", BASE), reserve0=10**13, reserve1=10**13, fee_pips=100,
    )  # fmt: skip
    markets = (*nets[BASE].markets(), *nets[ETHEREUM].markets(), lane, nobodys)
    unique = {market.id: market for market in markets}.values()
    relayers = Relayers(lane, nets[ETHEREUM])
    with chain_shop(nets, tmp_path, request.node.name, databases.lend("sqlite"), unique, relayers) as opened:
        yield opened


def on_base(symbol_in: str, symbol_out: str) -> tuple[tuple[int, str], tuple[int, str]]:
    return (BASE, symbol_in), (BASE, symbol_out)


@pytest.mark.parametrize(
    ("protocol", "sold", "bought", "amount"),
    [
        *(
            (protocol, *rest)
            for protocol in ("uniswap_v2", "uniswap_v3")
            for rest in (("WETH", "USDC", 10**17 + 1), ("ETH", "USDC", 10**17 + 3), ("USDC", "ETH", 30_000_001))
        ),
        ("uniswap_v3", "WETH", "DAI", 10**17),
        ("uniswap_v3", "ETH", "WETH", 10**17),
        ("uniswap_v3", "WETH", "ETH", 10**17),
    ],
)
def test_all_of_the_input_is_spent_and_at_least_the_minimum_arrives(
    shop: ChainShop, protocol: str, sold: str, bought: str, amount: int
) -> None:
    payer = shop.customer(BASE, **({} if sold == "ETH" else {sold: amount}))
    allowed = {"allowProtocols": [protocol, "wrap"], "inputAmount": str(amount), "maxSplits": 1}
    route = ask_routes(shop, on_base(sold, bought), payer.address, RECIPIENT, **allowed)
    (leg,) = route["legs"]
    assert leg["steps"] == list(range(len(route["steps"])))
    assert (leg["inputAmountMax"], leg["outputAmountMin"]) == (str(amount), route["outputAmountMin"])
    net = shop.nets[BASE]
    held, owned = net.balance(payer.address, sold), net.balance(RECIPIENT, bought)
    send_leg(payer, leg)
    assert held - net.balance(payer.address, sold) == amount
    received = net.balance(RECIPIENT, bought) - owned
    assert int(route["outputAmountMin"]) <= int(route["outputAmount"]) == received


def test_a_fixed_output_arrives_and_costs_no_more_than_is_said(shop: ChainShop) -> None:
    payer = shop.customer(BASE, WETH=10**18)
    route = ask_routes(shop, on_base("WETH", "USDC"), payer.address, RECIPIENT, outputAmount="42500000", maxSplits=1)
    (leg,) = route["legs"]
    net = shop.nets[BASE]
    held, owned = net.balance(payer.address, "WETH"), net.balance(RECIPIENT, "USDC")
    send_leg(payer, leg)
    assert net.balance(RECIPIENT, "USDC") - owned == int(leg["outputAmountMin"]) >= 42_500_000
    assert 0 < held - net.balance(payer.address, "WETH") <= int(leg["inputAmountMax"])


def test_allowances_are_exact_and_named(shop: ChainShop) -> None:
    payer = shop.customer(BASE, WETH=10**18)
    route = ask_routes(shop, on_base("WETH", "USDC"), payer.address, RECIPIENT, inputAmount=str(10**17), maxSplits=1)
    (leg,) = route["legs"]
    approve, pay = leg["transactions"]
    (named,) = leg["approvals"]
    assert (approve["purpose"], pay["purpose"]) == ("approve", "pay")
    spender, amount = decode(["address", "uint256"], bytes.fromhex(approve["data"][10:]))
    assert (spender, amount) == (named["spender"].lower(), 10**17)
    assert (named["amount"], named["through"], named["until"]) == (str(10**17), "", None)
    assert spender == pay["to"].lower() == fact(route["steps"][0]["protocol"], BASE, "router")


@pytest.mark.parametrize(("sold", "bought"), [("WETH", "USDC"), ("ETH", "USDC"), ("USDC", "ETH")])
@pytest.mark.parametrize("side", ["inputAmount", "outputAmount"])
def test_a_split_is_a_leg_for_each_path_and_all_are_tried_together(
    shop: ChainShop, sold: str, bought: str, side: str
) -> None:
    """Each wraps its own, whatever wraps for all of them in the route."""
    amount = 3 * 10**11 if (sold if side == "inputAmount" else bought) == "USDC" else 10**20
    payer = shop.customer(BASE, **({sold: 4 * 10**11} if sold == "USDC" else {sold: 2 * 10**20}))
    route = ask_routes(shop, on_base(sold, bought), payer.address, RECIPIENT, **{side: str(amount)})
    assert [leg["status"] for leg in route["legs"]] == ["ready", "ready"]
    assert {step for leg in route["legs"] for step in leg["steps"]} == set(range(len(route["steps"])))
    net = shop.nets[BASE]
    held, owned = net.balance(payer.address, sold), net.balance(RECIPIENT, bought)
    for leg in route["legs"]:
        send_leg(payer, leg)
    spent, received = held - net.balance(payer.address, sold), net.balance(RECIPIENT, bought) - owned
    assert (spent, received) == (int(route["inputAmount"]), int(route["outputAmount"]))


def test_the_legs_of_a_split_share_what_the_wallet_has(shop: ChainShop) -> None:
    """Each alone could be paid."""
    payer = shop.customer(BASE, WETH=10**21 - 1)
    route = ask_routes(shop, on_base("WETH", "USDC"), payer.address, RECIPIENT, inputAmount=str(10**21))
    assert [leg["status"] for leg in route["legs"]] == ["ready", "balance_too_low"]


def test_a_deposit_brings_what_the_bridge_confirms_and_is_followed_to_its_end(shop: ChainShop) -> None:
    amount = 50_000_000
    payer = shop.customer(ETHEREUM)
    ends = (ETHEREUM, "USDC"), (BASE, "USDC")
    route = ask_routes(shop, ends, payer.address, RECIPIENT, inputAmount=str(amount))
    (leg,) = route["legs"]
    assert leg["outputAmountMin"] == route["outputAmount"], "the bridge has confirmed it, so there is no tolerance"
    assert (leg["deadline"], leg["fillDeadline"] is None) == (None, False)
    held = shop.nets[ETHEREUM].balance(payer.address, "USDC")
    tx_hash = send_leg(payer, leg)
    assert held - shop.nets[ETHEREUM].balance(payer.address, "USDC") == amount
    shop.pass_time(2)
    seen = follow(shop, ETHEREUM, tx_hash)
    assert (seen["status"], seen["confirmations"] >= 1, seen["isFinal"]) == ("bridging", True, False)
    (delivery,) = seen["deliveries"]
    assert (delivery["status"], delivery["transactionHash"], delivery["outputAmount"]) == ("waiting", "", None)
    assert (delivery["chainId"], delivery["outputAmountMin"]) == (BASE, leg["outputAmountMin"])
    owned = shop.nets[BASE].balance(RECIPIENT, "USDC")
    filled = fill(shop.nets[ETHEREUM], shop.nets[BASE], tx_hash)
    forget_inquiries(shop)
    seen = follow(shop, ETHEREUM, tx_hash)
    (delivery,) = seen["deliveries"]
    assert (seen["status"], delivery["status"], delivery["transactionHash"]) == ("delivered", "delivered", filled)
    assert delivery["recipient"].lower() == RECIPIENT
    assert str(shop.nets[BASE].balance(RECIPIENT, "USDC") - owned) == delivery["outputAmount"]


def test_a_deposit_that_nobody_fills_is_overdue(shop: ChainShop) -> None:
    payer = shop.customer(ETHEREUM)
    ends = (ETHEREUM, "USDC"), (BASE, "USDC")
    (leg,) = ask_routes(shop, ends, payer.address, RECIPIENT, inputAmount="50000000")["legs"]
    tx_hash = send_leg(payer, leg)
    shop.pass_time(20_000 + LIFE_S)
    seen = follow(shop, ETHEREUM, tx_hash)
    assert (seen["status"], seen["deliveries"][0]["status"]) == ("bridging", "overdue")


def test_what_follows_a_bridge_is_asked_for_once_it_has_arrived(shop: ChainShop) -> None:
    payer = shop.customer(ETHEREUM)
    ends = (ETHEREUM, "USDC"), (BASE, "WETH")
    route = ask_routes(shop, ends, payer.address, RECIPIENT, inputAmount="50000000", maxSplits=1)
    first, then = route["legs"]
    assert (first["status"], first["recipient"].lower()) == ("ready", payer.address), "the payer signs the next one"
    assert (then["status"], then["transactions"]) == ("after_earlier_leg", [])
    assert "ask for routes from" in then["message"]
    tx_hash = send_leg(payer, first)
    fill(shop.nets[ETHEREUM], shop.nets[BASE], tx_hash)
    arrived = first["outputAmountMin"]
    again = ask_routes(shop, on_base("USDC", "WETH"), payer.address, RECIPIENT, inputAmount=arrived, maxSplits=1)
    there = shop.customer(BASE, USDC=0)
    assert there.address == payer.address
    owned = shop.nets[BASE].balance(RECIPIENT, "WETH")
    send_leg(there, again["legs"][0])
    assert shop.nets[BASE].balance(RECIPIENT, "WETH") - owned >= int(again["outputAmountMin"])


def test_a_swap_and_a_deposit_are_one_leg_and_the_rest_goes_back(shop: ChainShop) -> None:
    amount = 10**17
    payer = shop.customer(ETHEREUM, WETH=amount)
    ends = (ETHEREUM, "WETH"), (BASE, "USDC")
    route = ask_routes(shop, ends, payer.address, RECIPIENT, inputAmount=str(amount), maxSplits=1)
    (leg,) = route["legs"]
    assert leg["steps"] == [0, 1]
    assert int(leg["outputAmountMin"]) >= int(route["outputAmountMin"])
    tx_hash = send_leg(payer, leg)
    assert 0 <= shop.nets[ETHEREUM].balance(payer.address, "WETH") <= amount // 100
    owned = shop.nets[BASE].balance(RECIPIENT, "USDC")
    fill(shop.nets[ETHEREUM], shop.nets[BASE], tx_hash)
    assert shop.nets[BASE].balance(RECIPIENT, "USDC") - owned == int(leg["outputAmountMin"])


def test_what_nobody_builds_is_said_with_what_could_be_asked_for(shop: ChainShop) -> None:
    payer = shop.customer(BASE, USDT=10**9)
    route = ask_routes(shop, on_base("USDT", "WETH"), payer.address, RECIPIENT, inputAmount="50000000", maxSplits=1)
    first, then = route["legs"]
    assert (first["status"], first["transactions"], then["status"]) == ("no_builder", [], "after_earlier_leg")
    assert "uniswap_v3" in first["message"]


def test_too_little_in_the_wallet_gives_nothing_to_sign(shop: ChainShop) -> None:
    payer = shop.customer(BASE)
    route = ask_routes(shop, on_base("WETH", "USDC"), payer.address, RECIPIENT, inputAmount=str(10**17), maxSplits=1)
    (leg,) = route["legs"]
    assert (leg["status"], leg["transactions"]) == ("balance_too_low", [])
    assert str(10**17) in leg["message"]


def test_what_would_fail_is_not_offered(shop: ChainShop) -> None:
    payer = shop.customer(BASE, WETH=10**18)
    net = shop.nets[BASE]
    pool = net.v3_factory("getPool", shop.token(BASE, "WETH"), shop.token(BASE, "USDC"), 500)
    net.chain.set_code(pool, REVERTS)
    allowed = {"allowProtocols": ["uniswap_v3"], "inputAmount": str(10**17), "maxSplits": 1}
    (leg,) = ask_routes(shop, on_base("WETH", "USDC"), payer.address, RECIPIENT, **allowed)["legs"]
    assert (leg["status"], leg["transactions"]) == ("would_fail", [])


def test_a_price_that_moved_since_is_not_offered(shop: ChainShop) -> None:
    payer = shop.customer(BASE, WETH=10**18)
    path = [shop.token(BASE, "WETH"), shop.token(BASE, "USDC")]
    shop.nets[BASE].v2_router("swapExactTokensForTokens", 10**20, 0, path, "0x" + "01" * 20, 2**255)
    allowed = {"allowProtocols": ["uniswap_v2"], "inputAmount": str(10**17), "maxSplits": 1}
    (leg,) = ask_routes(shop, on_base("WETH", "USDC"), payer.address, RECIPIENT, **allowed)["legs"]
    assert (leg["status"], leg["transactions"]) == ("would_fail", [])
    assert leg["message"] == "It would fail now: UniswapV2Router: INSUFFICIENT_OUTPUT_AMOUNT"


def test_a_contract_is_not_paid_on_a_chain_where_it_is_not(shop: ChainShop) -> None:
    payer = shop.customer(ETHEREUM, "contract")
    shop.nets[ETHEREUM].chain.set_code(payer.address, bytes.fromhex("00"))
    ends = (ETHEREUM, "USDC"), (BASE, "WETH")
    first, _ = ask_routes(shop, ends, payer.address, RECIPIENT, inputAmount="50000000", maxSplits=1)["legs"]
    assert (first["status"], first["transactions"]) == ("payer_cannot_receive", [])
    shop.nets[ETHEREUM].chain.set_code(payer.address, bytes.fromhex("ef0100") + bytes(20))
    forget_inquiries(shop)
    first, _ = ask_routes(shop, ends, payer.address, RECIPIENT, inputAmount="50000000", maxSplits=1)["legs"]
    assert first["status"] == "ready", "its key still works on every chain"


def test_a_transaction_is_followed_from_its_sending_to_its_block(shop: ChainShop) -> None:
    payer = shop.customer(BASE)
    unknown = follow(shop, BASE, "0x" + "12" * 32)
    assert (unknown["status"], unknown["blockNumber"], unknown["confirmations"]) == ("unknown", None, 0)
    assert unknown["message"]
    tx_hash = payer.send(RECIPIENT, value=1, mine=False)
    assert follow(shop, BASE, tx_hash)["status"] == "pending"
    shop.nets[BASE].chain.mine()
    forget_inquiries(shop)
    mined = follow(shop, BASE, tx_hash)
    assert (mined["status"], mined["confirmations"], mined["isFinal"], mined["deliveries"]) == ("mined", 1, False, [])
    shop.nets[BASE].chain.mine(70)
    forget_inquiries(shop)
    final = follow(shop, BASE, tx_hash)
    assert (final["confirmations"], final["isFinal"]) == (71, True)


def test_a_transaction_that_reverts_has_failed_and_says_why(shop: ChainShop) -> None:
    payer = shop.customer(BASE)
    order = (1, 10**30, [shop.token(BASE, "WETH"), shop.token(BASE, "USDC")], payer.address, 2**255)
    router = shop.nets[BASE].v2_router
    data = encode_call(router, "swapExactTokensForTokens", order)
    tx_hash = payer.send(router.address, data)
    seen = follow(shop, BASE, tx_hash)
    assert seen["status"] == "failed"
    assert seen["message"] == "It reverted: UniswapV2Router: INSUFFICIENT_OUTPUT_AMOUNT"


def encode_call(contract: Any, name: str, arguments: tuple[Any, ...]) -> bytes:
    from eth_abi import encode

    function = contract.functions[name]
    return bytes(function.selector + encode(function.inputs, arguments))


@pytest.mark.rule("stream.3")
def test_a_stream_ends_with_what_the_bridge_confirms_and_the_wallet_can_send(shop: ChainShop) -> None:
    payer = shop.customer(ETHEREUM)
    body = write_question(shop, ((ETHEREUM, "USDC"), (BASE, "USDC")), payer.address, RECIPIENT, inputAmount="50000000")
    answer = shop.shop.client.post("/v1/routes/stream", json=body, headers=shop.shop.merchant.headers())
    *routes, _done = [json.loads(block[6:]) for block in answer.get_data(as_text=True).split("\n\n")[:-1]]
    route = routes[-1]["route"]
    ((step,), (leg,)) = route["steps"], route["legs"]
    assert (step["isFirm"], leg["status"]) == (True, "ready")
    assert step["outputAmount"] == leg["outputAmountMin"] == route["outputAmount"]
    tx_hash = send_leg(payer, leg)
    owned = shop.nets[BASE].balance(RECIPIENT, "USDC")
    shop.pass_time(2)
    fill(shop.nets[ETHEREUM], shop.nets[BASE], tx_hash)
    assert shop.nets[BASE].balance(RECIPIENT, "USDC") - owned == int(step["outputAmount"])
