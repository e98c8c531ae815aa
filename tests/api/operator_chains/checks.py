"""BNB Chain and Avalanche, which are nothing but data: rates, routes, payments and orders on them."""

from __future__ import annotations

from typing import Any

from adapters.bridges.events import find_event_readers
from adapters.chain.adapter import OnChainAdapter
from adapters.chain.gas import GasAdapter
from adapters.chain.protocol import find_protocols
from adapters.chain.tokens import ChainTokens
from adapters.dexes import uniswap_v2
from adapters.feed.connect import list_tokens
from adapters.rpc.endpoint_pool import RpcPool
from adapters.transactions.base import PlannedHop, Terms
from adapters.transactions.payment_builders import PaymentBuilders
from api.domain.env import EnvMode
from api.services.checkout.payable_tokens import list_payable_tokens
from api.services.checkout.quotes import quote_order
from api.services.vendors.vendors import Account, set_account
from routing_engine import NATIVE_ADDRESS, Router, RouteRequest, Snapshot, Token
from routing_engine.markets.bridges.cctp import Finality, cctp_lane
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from routing_engine.sandbox import gas_prices, sandbox_markets
from tests.support.nodes import Network
from tests.support.scripts import Script, address
from tests.support.shop import Shop

BNB, AVALANCHE, BASE = 56, 43114, 8453
MERCHANT, PAYER = "0x" + "aa" * 20, "0x" + "bb" * 20
GWEI = 10**9


def on(symbol: str, chain_id: int) -> Token:
    return token_registry.token(symbol, chain_id)


def pool_of(script: Script) -> RpcPool:
    client = Network(node=script)
    return RpcPool(script.chain_id, ["https://node/"], client=client, clock=lambda: script.timestamp)


def test_the_five_come_first() -> None:
    assert list(CHAINS) == [1, 10, 137, BASE, 42161, BNB, AVALANCHE]


def test_a_dollar_may_have_other_decimals_there() -> None:
    assert [on("USDC", chain_id).decimals for chain_id in (BASE, BNB, AVALANCHE)] == [6, 18, 6]
    assert on("BNB", BNB).is_native
    assert on("WAVAX", AVALANCHE) == CHAINS[AVALANCHE].wrapped_native_token


def test_the_sandbox_trades_on_them() -> None:
    snapshot = Snapshot(sandbox_markets(), gas_prices=gas_prices())
    request = RouteRequest(token_in=on("AVAX", AVALANCHE), token_out=on("USDC", BNB), amount=40 * 10**18)
    route = Router(snapshot).find_routes(request).best()
    assert [route.hops[0].token_in, route.hops[-1].token_out] == [on("AVAX", AVALANCHE), on("USDC", BNB)]
    assert 0.98 * 1000 < route.amount_out / 10**18 < 1000, "25 dollars each in the sandbox"


def test_the_chain_adapter_reads_an_exchange_there() -> None:
    tokens = tuple(sorted((on("USDT", BNB), on("WBNB", BNB)), key=lambda each: int(each.address, 16)))
    factory, pair = "0xca143ce32fe78f1f7019d7d551a6402fc5350c73", address(0xA1)
    script = Script(*tokens, chain_id=BNB)
    script.on(uniswap_v2.GET_PAIR(factory, *(each.address for each in tokens)), pair)
    script.on(uniswap_v2.GET_RESERVES(pair), 600 * 10**18, 10**18)
    protocols = [each for each in find_protocols(BNB) if each.name == "pancakeswap_v2"]
    adapter = OnChainAdapter(pool_of(script), protocols, ChainTokens(tokens))
    (market,) = adapter.parse(adapter.fetch()).markets
    assert (market.id, market.protocol) == (f"56:{pair}", "pancakeswap_v2")
    assert market.swap_exact_in(*tokens, 10**18)[0].amount_out == 10**18 * 9975 // (600 * 10_000 + 9975)


def test_only_deployed_protocols_are_read_there() -> None:
    named = {each.name for each in find_protocols(BNB)}
    assert {"pancakeswap_v2", "pancakeswap_v3", "uniswap_v3", "stargate", "wrap"} <= named
    assert "uniswap_v4" not in named
    listed = {token.symbol for token in list_tokens() if token.chain_id == BNB}
    assert listed == {"BNB", "WBNB", "USDC", "USDT"}


def test_gas_costs_what_the_model_says() -> None:
    script = Script(chain_id=AVALANCHE)
    known = script._result
    history = {"baseFeePerGas": [hex(GWEI), hex(2 * GWEI)], "reward": [[hex(GWEI)]]}

    def answer(method: str, given: Any) -> Any:
        assert method != "eth_call", "nothing is charged for data"
        return history if method == "eth_feeHistory" else known(method, given)

    script._result = answer
    adapter = GasAdapter(pool_of(script))
    assert adapter.parse(adapter.fetch()).gas_prices == {AVALANCHE: 3 * GWEI}


def test_a_burn_there_is_payable_and_its_events_are_read() -> None:
    ends = on("USDC", AVALANCHE), on("USDC", BASE)
    lane = cctp_lane(*ends, finality=Finality.STANDARD, minimum_fee_bps=0, fill_time_s=10, forward_fee=50_000)
    hop, _ = lane.swap_exact_in(*ends, 10**6)
    terms = Terms(
        payer=PAYER,
        recipient=MERCHANT,
        amount_in_max=10**6,
        amount_out=hop.amount_out,
        deadline=0,
        reference=bytes(16),
        firm={"minFinalityThreshold": 2000},
    )
    call = PaymentBuilders.load().build((PlannedHop(hop=hop),), ends[0], terms)
    (cctp, _) = sorted(find_event_readers(AVALANCHE), key=lambda each: type(each).__name__)
    assert call.chain_id == AVALANCHE
    assert call.to in cctp.contracts
    assert [type(each).__name__ for each in find_event_readers(BNB)] == ["StargateEvents"]


def test_an_order_is_settled_on_one_and_paid_on_the_other(shop: Shop) -> None:
    settled = on("USDC", BNB)
    account = Account(currency="USDC", chain_id=BNB, token_address=settled.address, token_decimals=18, address=MERCHANT)
    with shop.resources.database.write() as session:
        set_account(session, shop.merchant.id, EnvMode.TEST, account, shop.clock.now())
    order_id = shop.create(order_price={"currency": "USDC", "amount": 250 * 10**18, "decimals": 18})
    first, *_ = groups = list_payable_tokens(shop.resources, order_id)
    assert (first.chain["name"], first.tokens[0].token) == ("BNB Chain", settled)
    assert {group.chain["name"] for group in groups} >= {"Avalanche", "Base"}
    quote = quote_order(shop.resources, order_id, AVALANCHE, NATIVE_ADDRESS)
    assert quote.amount_out == 250 * 10**18
    assert 10 * 10**18 < quote.amount_in < 11 * 10**18, "ten of 25 dollars, and fees"
    shop.simulate(order_id, "pay", quote_id=quote.quote_id)
    shop.wait(5)
    deposit, fill = shop.transfers()
    assert (deposit.chain_id, fill.chain_id, fill.amount) == (AVALANCHE, BNB, 250 * 10**18)
    assert shop.order(order_id)["payment_order_status"] == "success"


def test_the_list_of_tokens_shows_them(shop: Shop) -> None:
    body = shop.get("/v1/tokens?limit=1000").get_json()
    dollars = [row for row in body["tokens"] if row["symbol"] == "USDC"]
    assert [(row["decimals"], sorted(row["chain_to_address"], key=int)[-1]) for row in dollars] == [
        (6, str(AVALANCHE)),
        (18, str(BNB)),
    ]
    assert {"BNB Chain", "Avalanche"} <= {row["name"] for row in body["chains"]}


def test_requests_may_name_them(shop: Shop) -> None:
    document = shop.get("/openapi.json").get_json()
    assert "43114" in str(document["paths"])
