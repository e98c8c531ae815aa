"""Paying transactions on real contracts: simulated, sent, and the merchant has just the price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from adapters.transactions.base import PlannedHop, Purpose, Terms, Transaction
from adapters.transactions.payment_builders import PaymentBuilders, append_reference, list_transactions
from adapters.transactions.simulation import PaymentChain
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.model import Token
from tests.support.main_net import MainNet, fact, running_main_net

PAYER, MERCHANT = "0x" + "aa" * 20, "0x" + "bb" * 20
REFERENCE = bytes(range(16))
GAS_PRICE = 10**9
BUILDERS = PaymentBuilders.load()


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    """Ethereum, with a pair and pools of several fees."""
    with running_main_net(1) as net:
        net.pair("WETH", 10**21, "USDC", 3 * 10**12)
        net.pair("DAI", 2 * 10**24, "USDT", 2 * 10**12)
        net.pool("WETH", 10**22, "USDC", 3 * 10**13, 500)
        net.pool("WETH", 10**21, "DAI", 3 * 10**24, 3000)
        net.pool("USDC", 10**13, "USDT", 10**13, 500)
        net.chain.rpc("anvil_impersonateAccount", PAYER)
        yield net


@dataclass(frozen=True)
class Planned:
    """A payment that a router has found the way for."""

    hops: tuple[PlannedHop, ...]
    token: Token
    terms: Terms


def plan(net: MainNet, symbol_in: str, symbol_out: str, amount: int, protocol: str, slippage_bps: int = 50) -> Planned:
    """Find the cheapest single path over one protocol."""
    snapshot = Snapshot(net.markets())
    token_in, token_out = (
        net.token(symbol) if symbol != "ETH" else snapshot.token("ETH@1") for symbol in (symbol_in, symbol_out)
    )
    request = RouteRequest(
        token_in=token_in, token_out=token_out, amount=amount, side="exact_out", max_splits=1,
        allow_protocols=frozenset({protocol, "wrap"}),
    )  # fmt: skip
    route = Router(snapshot).find_routes(request).best()
    fees = {market.id: getattr(market, "fee_pips", 0) for market in snapshot.markets.values()}
    hops = tuple(PlannedHop(hop=hop, fee_pips=fees[hop.market_id]) for hop in route.hops)
    most = -(-route.amount_in * (10_000 + slippage_bps) // 10_000)
    deadline = int(net.chain.now()) + 1200
    terms = Terms(payer=PAYER, recipient=MERCHANT, amount_in_max=most, amount_out=amount, deadline=deadline)
    return Planned(hops, token_in, terms)


def send(net: MainNet, transaction: Transaction) -> dict[str, object]:
    """Send a transaction as the payer's wallet would; return the receipt."""
    body = {
        "from": PAYER,
        "to": transaction.to,
        "value": hex(transaction.value),
        "data": "0x" + transaction.data.hex(),
        "gas": hex(transaction.gas),
        "gasPrice": hex(GAS_PRICE),
    }
    sent = net.chain.rpc("eth_sendTransaction", body)
    net.chain.mine()
    receipt = net.chain.rpc("eth_getTransactionReceipt", sent)
    assert receipt["status"] == "0x1"
    return receipt


def prepared(net: MainNet, planned: Planned) -> tuple[Transaction, ...]:
    """Build and simulate, with the allowance as it is."""
    chain = PaymentChain(net.rpc())
    call = append_reference(BUILDERS.build(planned.hops, planned.token, planned.terms), REFERENCE)
    allowance = chain.read_allowance(call.spending, PAYER) if call.spending else 0
    found = chain.simulate(list_transactions(call, allowance), PAYER, MERCHANT)
    assert sum(found.received.values()) == planned.terms.amount_out
    return found.transactions


@pytest.mark.parametrize("protocol", ["uniswap_v2", "uniswap_v3"])
@pytest.mark.parametrize(
    ("paid", "settled", "price"),
    [("WETH", "USDC", 42_500_000), ("ETH", "USDC", 42_500_001), ("USDC", "ETH", 10**16 + 7), ("USDC", "WETH", 10**17)],
)
def test_a_swap_pays_just_the_price(net, protocol, paid, settled, price):
    check(net, plan(net, paid, settled, price, protocol), paid, settled)


@pytest.mark.parametrize(
    ("paid", "settled", "price"), [("DAI", "USDT", 10**9 + 1), ("ETH", "USDT", 777_777), ("USDT", "ETH", 10**17)]
)
def test_a_path_over_several_v3_pools_pays_just_the_price(net, paid, settled, price):
    planned = plan(net, paid, settled, price, "uniswap_v3")
    assert sum(each.hop.protocol == "uniswap_v3" for each in planned.hops) > 1
    check(net, planned, paid, settled)


@pytest.mark.parametrize(("paid", "settled"), [("ETH", "WETH"), ("WETH", "ETH")])
def test_the_coin_is_wrapped_or_unwrapped_on_its_way(net, paid, settled):
    check(net, plan(net, paid, settled, 10**17 + 1, "uniswap_v3", slippage_bps=0), paid, settled)


def check(net: MainNet, planned: Planned, paid: str, settled: str) -> None:
    most, price = planned.terms.amount_in_max, planned.terms.amount_out
    net.fund(PAYER, "ETH", 10**18)
    if paid == "ETH":
        net.fund(PAYER, "ETH", most + 10**18)
    else:
        net.fund(PAYER, paid, most)
    batch = prepared(net, planned)
    assert [each.purpose for each in batch] == [Purpose.PAY] if paid == "ETH" else [Purpose.APPROVE, Purpose.PAY]
    assert batch[-1].data.endswith(REFERENCE)
    had, owned = net.balance(PAYER, paid), net.balance(MERCHANT, settled)
    receipts = [send(net, each) for each in batch]
    gas = sum(int(receipt["gasUsed"], 16) for receipt in receipts) * GAS_PRICE
    assert all(int(receipt["gasUsed"], 16) <= each.gas for receipt, each in zip(receipts, batch, strict=True))
    assert net.balance(MERCHANT, settled) - owned == price
    spent = had - net.balance(PAYER, paid) - (gas if paid == "ETH" else 0)
    assert 0 < spent <= most
    first = planned.hops[0].hop.amount_in
    assert first <= spent <= first + len(planned.hops), "what the engine quoted, but for the routers' own rounding"
    used = net.chain.rpc("eth_getTransactionByHash", receipts[-1]["transactionHash"])
    assert used["input"].endswith(REFERENCE.hex())
    take_back(net, paid)


def take_back(net: MainNet, symbol: str) -> None:
    """Leave the payer without the token and without allowances for the next test."""
    if symbol == "ETH":
        return
    contract = net.tokens[symbol]
    for protocol in ("uniswap_v2", "uniswap_v3"):
        router = fact(protocol, 1, "router")
        data = contract.functions["approve"].selector + bytes(12) + bytes.fromhex(router[2:]) + bytes(32)
        send(net, Transaction(purpose=Purpose.RESET, chain_id=1, to=contract.address, data=data, gas=10**5))
