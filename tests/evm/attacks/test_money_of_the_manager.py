"""What lies in Uniswap v4's manager is somebody's: a swap pays for what it takes, and for nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from routing_engine.model import ZERO_ADDRESS
from tests.evm.test_settlement_v4 import DEEP, Exchange
from tests.support.evidence import MINE, THEIRS, customer_of, data_of, found_in, own, run, runner_on
from tests.support.evm import ACTOR, Contract
from tests.support.main_net import constructed, fact, running_main_net
from tests.support.settlement import Wallet, somebody, transfer_data
from tests.support.uniswap_v4 import V4, manager_code

BASE = 8453
SHOP = somebody("merchant whose money lies in the manager")
LEAST_PRICE = 4295128740
DOLLARS = 10**6


@pytest.fixture(scope="module")
def exchange() -> Iterator[Exchange]:
    with running_main_net(BASE) as net:
        v4 = V4.around(constructed(net.chain, fact("uniswap_v4", BASE, "manager"), manager_code(), ACTOR))
        made = Exchange(net, v4)
        made.pool("ETH", "USDC", (10**18, 3_000 * 10**6))
        yield made


def key_of(exchange: Exchange) -> tuple[object, ...]:
    return (ZERO_ADDRESS, exchange.net.tokens["USDC"].address, 500, 10, ZERO_ADDRESS)


def swap(exchange: Exchange, value: int, amount: int) -> tuple[str, int, bytes]:
    """Return a call of somebody's router that buys dollars for coin; it gives back what is left of it."""
    order = (True, amount, LEAST_PRICE)
    data = data_of(exchange.v4.swap_router, "swap", key_of(exchange), order, (False, False), b"")
    return exchange.v4.swap_router.address, value, data


def pay(exchange: Exchange, amount: int) -> tuple[str, int, bytes]:
    return exchange.net.tokens["USDC"].address, 0, transfer_data(SHOP, amount)


def withdraw(exchange: Exchange) -> tuple[str, int, bytes]:
    """Return a call that takes out some of a position that lies with a contract that pays whoever asks."""
    order = (-887_270, 887_270, -DEEP * 10, bytes(32))
    data = data_of(exchange.v4.liquidity_router, "modifyLiquidity", key_of(exchange), order, b"")
    return exchange.v4.liquidity_router.address, 0, data


@pytest.fixture
def tool(exchange: Exchange) -> Contract:
    return runner_on(exchange.net.chain)


@pytest.fixture
def thief(exchange: Exchange) -> Wallet:
    return customer_of(exchange.net, "thief beside the manager")


def test_a_swap_by_whatever_router_is_the_payers(exchange: Exchange, tool: Contract) -> None:
    payer = customer_of(exchange.net, "payer over a router of others")
    bought = run(tool, [swap(exchange, 10**15, DOLLARS), pay(exchange, DOLLARS)])
    (found,) = found_in(exchange.net, payer.send(tool.address, bought + MINE, value=10**15), [SHOP])
    assert (found.amount, found.sender, own(found)[-1:]) == (DOLLARS, payer.address, (MINE,))


@pytest.mark.parametrize("swaps", [False, True])
def test_what_a_position_pays_out_is_not_of_who_swaps(
    exchange: Exchange, tool: Contract, thief: Wallet, swaps: bool
) -> None:
    """It goes to the merchant, with a speck of the thief's beside it."""
    speck = [swap(exchange, 10**9, 1)] if swaps else []
    data = run(tool, [*speck, withdraw(exchange), pay(exchange, DOLLARS)])
    (found,) = found_in(exchange.net, thief.send(tool.address, data + THEIRS, value=10**9), [SHOP])
    assert (found.amount, found.sender, THEIRS in own(found)) == (DOLLARS, "", False)
