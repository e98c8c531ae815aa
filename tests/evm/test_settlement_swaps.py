"""Orders paid with a token that no bridge takes: swapped, deposited and filled, for one signature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from eth_utils import keccak

from api.services.ledger import reading
from routing_engine.markets.bridges import across_lane
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.support.across import Relayers, fill
from tests.support.databases import Databases
from tests.support.main_net import MainNet, fact, running_main_net
from tests.support.settlement import PRICE, ChainShop, chain_shop
from tests.support.universal import deploy_periphery, deploy_router

BASE, ETHEREUM = 8453, 1
LANE = across_lane(
    token_registry.token("USDC", ETHEREUM), token_registry.token("USDC", BASE), capital_fee_e18=10**14, lp_fee_e18=0,
    relayer_gas_fee=10_000, min_deposit=1, max_deposit=10**12, fill_time_s=4,
)  # fmt: skip
PROTOCOLS = ("uniswap_v2", "uniswap_v3")


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base, running_main_net(ETHEREUM) as ethereum:
        deploy_router(ethereum)
        deploy_periphery(ethereum)
        ethereum.pair("WETH", 10**21, "USDC", 3 * 10**12)
        ethereum.pool("WETH", 10**22, "USDC", 3 * 10**13, 500)
        ethereum.pool("WETH", 10**21, "DAI", 3 * 10**24, 3000)
        yield {BASE: base, ETHEREUM: ethereum}


@pytest.fixture
def relayers(nets: Mapping[int, MainNet]) -> Relayers:
    return Relayers(LANE, nets[ETHEREUM])


@pytest.fixture
def shop(
    nets: Mapping[int, MainNet],
    relayers: Relayers,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    databases: Databases,
) -> Iterator[ChainShop]:
    """A merchant on Base; the customer's tokens are swapped over the one exchange that a test names."""
    wanted = getattr(request, "param", "uniswap_v3")
    pools = [pool for pool in nets[ETHEREUM].markets() if pool.protocol in (wanted, "wrap")]
    lent = databases.lend("sqlite")
    with chain_shop(nets, tmp_path, request.node.name, lent, [*pools, LANE], relayers) as opened:
        yield opened


@pytest.mark.parametrize("worse_by", [0, 1_000])
@pytest.mark.parametrize("symbol", ["WETH", "ETH"])
@pytest.mark.parametrize("shop", PROTOCOLS, indirect=True)
def test_a_swap_and_its_deposit_pay_just_the_price(
    shop: ChainShop, relayers: Relayers, symbol: str, worse_by: int
) -> None:
    """The rest of what was swapped goes back to the customer, not into the deposit; nothing stays on the way."""
    order_id, reference = shop.order()
    ethereum = shop.nets[ETHEREUM]
    customer = shop.customer(ETHEREUM, f"{symbol} {worse_by}", **({"WETH": 10**18} if symbol == "WETH" else {}))
    quote = shop.quote(order_id, ETHEREUM, symbol)
    relayers.worse_by = worse_by
    held = ethereum.balance(customer.address, symbol)
    transactions = shop.transactions(order_id, quote, customer)
    assert [each["purpose"] for each in transactions] == (["approve", "pay"] if symbol == "WETH" else ["pay"])
    assert transactions[-1]["data"].endswith(reference.hex())
    tx_hash = customer.sign(transactions)
    quoted, spent = int(quote["pay_amount"]), held - ethereum.balance(customer.address, symbol)
    assert quoted <= spent <= -(-quoted * 10_050 // 10_000)
    assert spent <= quoted * (10**6 + 2 * worse_by) // 10**6 + 2
    shop.look()
    assert shop.outcome(order_id) == "processing/"
    filled = fill(ethereum, shop.nets[BASE], tx_hash)
    shop.look()
    order = shop.shop.order(order_id)
    assert (shop.outcome(order_id), shop.balance(BASE)) == ("success/", PRICE)
    assert order["transaction_hash"] == tx_hash
    assert [row["hash"] for row in order["transactions"]] == [tx_hash, filled]
    periphery = transactions[-1]["to"]
    proxy = "0x" + ethereum.chain.ask(periphery, keccak(text="swapProxy()")[:4])[-20:].hex()
    for between in (periphery, proxy, fact("uniswap_v4", ETHEREUM, "router")):
        assert [ethereum.balance(between, name) for name in ("WETH", "USDC", "ETH")] == [0, 0, 0]


def test_a_swap_and_its_deposit_count_without_a_trace(shop: ChainShop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "trace_question", lambda tx_hash: ("debug_no_such_method", []))
    order_id = shop.order()[0]
    customer = shop.customer(ETHEREUM, "holder of coin")
    tx_hash = customer.sign(shop.transactions(order_id, shop.quote(order_id, ETHEREUM, "ETH"), customer))
    fill(shop.nets[ETHEREUM], shop.nets[BASE], tx_hash)
    shop.look(3)
    assert (shop.outcome(order_id), shop.balance(BASE)) == ("success/", PRICE)


def test_two_swaps_before_the_deposit(shop: ChainShop) -> None:
    order_id = shop.order()[0]
    customer = shop.customer(ETHEREUM, "holder of DAI", DAI=10 * 10**18)
    transactions = shop.transactions(order_id, shop.quote(order_id, ETHEREUM, "DAI"), customer)
    tx_hash = customer.sign(transactions)
    fill(shop.nets[ETHEREUM], shop.nets[BASE], tx_hash)
    shop.look(3)
    assert (shop.outcome(order_id), shop.balance(BASE)) == ("success/", PRICE)


def test_an_expensive_swap_is_refused_before_anybody_signs(shop: ChainShop, nets: Mapping[int, MainNet]) -> None:
    """By then the pool gives less than the tolerance allows; nothing is approved and nothing deposited."""
    order_id = shop.order()[0]
    customer = shop.customer(ETHEREUM, "too late", WETH=10**18)
    quote = shop.quote(order_id, ETHEREUM, "WETH")
    net = nets[ETHEREUM]
    before = net.chain.rpc("evm_snapshot")
    pool = net.v3_factory("getPool", CHAINS[ETHEREUM].wrapped_native, net.tokens["USDC"].address, 500)
    net.chain.set_code(pool, bytes.fromhex("5f5ffd"))
    body = {"quote_id": quote["quote_id"], "payer": customer.address}
    answer = shop.shop.client.post(f"/payment/{order_id}/transactions", json=body)
    net.chain.rpc("evm_revert", before)
    assert (answer.status_code, answer.get_json()["reason"]) == (409, "payment_would_fail")
