"""Orders paid over Uniswap v4: real manager, Universal Router and Permit2; exact and passing permissions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from eth_abi import decode

from adapters.chain.adapter import OnChainAdapter
from adapters.chain.tokens import ChainTokens
from adapters.dexes.uniswap_v4 import UniswapV4
from api.services.ledger import reading
from routing_engine.market import Market
from routing_engine.markets import NativeWrap
from routing_engine.model import ZERO_ADDRESS
from routing_engine.reference.chains import CHAINS
from tests.support.across import Relayers
from tests.support.databases import Databases
from tests.support.evm import ACTOR
from tests.support.executing import ask_routes, send_leg
from tests.support.main_net import MainNet, constructed, fact, isqrt_x96, running_main_net
from tests.support.settlement import PRICE, ChainShop, chain_shop, somebody
from tests.support.uniswap_v4 import V4, manager_code
from tests.support.universal import deploy_router

BASE = 8453
PERMIT2, ROUTER = (fact("uniswap_v4", BASE, field) for field in ("permit2", "router"))
DEEP = 10**13
HOOK_AFTER_DONATIONS = "0x" + "0" * 38 + "10"
"""Of no matter to swaps, yet another pool."""


@dataclass(frozen=True)
class Exchange:
    """Base, with v4's manager and pools of its tokens."""

    net: MainNet
    v4: V4

    def pool(self, first: str, second: str, prices: tuple[int, int], *, hooks: str = ZERO_ADDRESS) -> None:
        """Make a deep pool in which these amounts are worth the same."""
        named = zip((self._address(first), self._address(second)), prices, strict=True)
        (low, worth_low), (high, worth_high) = sorted(named, key=lambda row: int(row[0], 16))
        key = (low, high, 500, 10, hooks)
        self.v4.manager("initialize", key, isqrt_x96(worth_low, worth_high))
        for address in (low, high):
            if address != ZERO_ADDRESS:
                symbol = next(name for name, row in self.net.tokens.items() if row.address == address)
                self.net.tokens[symbol]("approve", self.v4.liquidity_router.address, 2**256 - 1)
        value = 10**24 if low == ZERO_ADDRESS else 0
        order = (-887_270, 887_270, DEEP * 10**6, bytes(32))
        self.v4.liquidity_router("modifyLiquidity", key, order, b"", value=value)

    def markets(self) -> tuple[Market, ...]:
        """Read the manager's pools over RPC."""
        protocol = UniswapV4(BASE, self.v4.manager.address.lower(), self.v4.view.address.lower())
        tokens = ChainTokens(map(self.net.token, ("ETH", *self.net.tokens)))
        adapter = OnChainAdapter(self.net.rpc(), [protocol], tokens)
        return (NativeWrap.of(CHAINS[BASE]), *adapter.parse(adapter.fetch()).markets)

    def _address(self, symbol: str) -> str:
        return ZERO_ADDRESS if symbol == "ETH" else self.net.tokens[symbol].address


@pytest.fixture(scope="module")
def exchange() -> Iterator[Exchange]:
    with running_main_net(BASE) as net:
        v4 = V4.around(constructed(net.chain, fact("uniswap_v4", BASE, "manager"), manager_code(), ACTOR))
        deploy_router(net, v4.manager.address)
        exchange = Exchange(net, v4)
        exchange.pool("ETH", "USDC", (10**18, 3_000 * 10**6))
        exchange.pool("USDC", "DAI", (10**6, 10**18))
        exchange.pool("DAI", "USDT", (10**18, 10**6))
        exchange.pool("WETH", "USDC", (10**18, 3_000 * 10**6), hooks=HOOK_AFTER_DONATIONS)
        yield exchange


@pytest.fixture
def shop(
    exchange: Exchange, tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[ChainShop]:
    nets, lent, relayers = {BASE: exchange.net}, databases.lend("sqlite"), Relayers(None, exchange.net)
    with chain_shop(nets, tmp_path, request.node.name, lent, exchange.markets(), relayers) as opened:
        yield opened


def approved(transaction: dict[str, Any], *types: str) -> tuple[Any, ...]:
    return decode(types, bytes.fromhex(transaction["data"][10:]))


@pytest.mark.parametrize("symbol", ["DAI", "USDT", "ETH"])
def test_a_swap_over_v4_pays_just_the_price(shop: ChainShop, symbol: str) -> None:
    """USDT takes two pools."""
    order_id, reference = shop.order()
    net = shop.nets[BASE]
    customer = shop.customer(BASE, symbol, **({} if symbol == "ETH" else {symbol: 10**19}))
    quote = shop.quote(order_id, BASE, symbol)
    held = net.balance(customer.address, symbol)
    transactions = shop.transactions(order_id, quote, customer)
    tx_hash = customer.sign(transactions)
    assert transactions[-1]["data"].endswith(reference.hex())
    quoted, spent = int(quote["pay_amount"]), held - net.balance(customer.address, symbol)
    assert quoted <= spent <= quoted + 2
    assert [net.balance(ROUTER, name) for name in ("ETH", "USDC", "DAI", "USDT")] == [0, 0, 0, 0]
    shop.look()
    assert (shop.outcome(order_id), shop.balance(BASE)) == ("success/", PRICE)
    assert shop.shop.order(order_id)["transaction_hash"] == tx_hash
    assert shop.shop.payments()[0].sender == customer.address


@pytest.mark.parametrize(
    ("sold", "bought", "amount"),
    [("DAI", "USDC", 10**19), ("USDT", "USDC", 10**7 + 1), ("ETH", "USDC", 10**16 + 1), ("USDC", "ETH", 10**7 + 1)],
)
def test_a_route_over_v4_spends_all_and_brings_what_was_promised(
    shop: ChainShop, sold: str, bought: str, amount: int
) -> None:
    net, recipient = shop.nets[BASE], somebody("recipient over v4")
    payer = shop.customer(BASE, f"trader of {sold}", **({} if sold == "ETH" else {sold: amount}))
    route = ask_routes(
        shop, ((BASE, sold), (BASE, bought)), payer.address, recipient, inputAmount=str(amount), maxSplits=1
    )
    (leg,) = route["legs"]
    assert {step["protocol"] for step in route["steps"]} == {"uniswap_v4"}
    through = [(row["spender"].lower(), row["through"].lower(), row["until"] is None) for row in leg["approvals"]]
    assert through == ([] if sold == "ETH" else [(PERMIT2, "", True), (ROUTER, PERMIT2, False)])
    held, owned = net.balance(payer.address, sold), net.balance(recipient, bought)
    send_leg(payer, leg)
    assert held - net.balance(payer.address, sold) == amount
    assert int(leg["outputAmountMin"]) <= net.balance(recipient, bought) - owned == int(route["outputAmount"])
    assert [net.balance(ROUTER, name) for name in ("ETH", "USDC", "DAI", "USDT")] == [0, 0, 0, 0]


def test_permissions_are_exact_and_run_out(shop: ChainShop) -> None:
    """Permit2 may take the most that the payment takes, for the router alone, no longer than it may be mined."""
    order_id = shop.order()[0]
    customer = shop.customer(BASE, "careful", DAI=10**19)
    quote = shop.quote(order_id, BASE, "DAI")
    allow, grant, pay = shop.transactions(order_id, quote, customer)
    assert [each["purpose"] for each in (allow, grant, pay)] == ["approve", "approve", "pay"]
    spender, most = approved(allow, "address", "uint256")
    token, user, granted, until = approved(grant, "address", "address", "uint160", "uint48")
    assert (allow["to"], spender, grant["to"]) == (token, PERMIT2, PERMIT2)
    assert (user, granted) == (ROUTER, most)
    assert int(quote["pay_amount"]) <= most <= -(-int(quote["pay_amount"]) * 10_050 // 10_000)
    assert 0 < until - shop.clock.now().timestamp() <= 20 * 60 + 1
    customer.sign([allow])
    assert [each["to"] for each in shop.transactions(order_id, quote, customer)] == [PERMIT2, ROUTER]
    customer.sign([grant])
    assert [each["to"] for each in shop.transactions(order_id, quote, customer)] == [ROUTER]
    shop.pass_time(19 * 60)
    shop.look()
    later = shop.quote(order_id, BASE, "DAI")
    assert [each["to"] for each in shop.transactions(order_id, later, customer)] == [PERMIT2, ROUTER]


@pytest.mark.parametrize("can_trace", [True, False])
def test_the_managers_own_coin_pays_though_no_event_tells_who_got_it(
    shop: ChainShop, monkeypatch: pytest.MonkeyPatch, can_trace: bool
) -> None:
    """DAI takes two pools, the first of which gives dollars on the way."""
    price = 10**14 + 7
    order_id = shop.order(order_price={"currency": "ETH", "amount": price, "decimals": 18})[0]
    customer = shop.customer(BASE, f"seller {can_trace}", DAI=10**19)
    transactions = shop.transactions(order_id, shop.quote(order_id, BASE, "DAI"), customer)
    tx_hash = customer.sign(transactions)
    if not can_trace:
        monkeypatch.setattr(reading, "trace_question", lambda tx_hash: ("debug_no_such_method", []))
    shop.look()
    shop.finalise()
    assert (shop.outcome(order_id), shop.balance(BASE, "ETH")) == ("success/", price)
    assert [(row.sender, row.amount, row.tx_hash) for row in shop.shop.payments()] == [
        (customer.address, price, tx_hash)
    ]


def test_pools_with_hooks_are_not_offered(shop: ChainShop) -> None:
    pairs = [
        {token.symbol for token in market.tokens} for market in shop.shop.resources.market.snapshot.markets.values()
    ]
    assert {"WETH", "USDC"} in pairs, "the pool with hooks can be routed over, but not paid with"
    order_id = shop.order()[0]
    weth = {"chainId": BASE, "token": shop.token(BASE, "WETH")}
    answer = shop.shop.client.post(f"/payment/{order_id}/quote", json=weth)
    assert (answer.status_code, answer.get_json()["reason"]) == (409, "no_route")
