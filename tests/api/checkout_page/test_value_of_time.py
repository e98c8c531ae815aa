"""Which way to pay the page offers first: what costs least, a customer's time counted at a stated rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from api.config import DOLLARS_A_MINUTE, Config, ConfigError
from api.domain.env import EnvMode
from api.services.checkout.options import PaymentOptions, list_options
from api.services.checkout.patience import price_waiting, weigh_hour
from api.services.market.market import MarketService
from api.services.market.supply import load_offline
from api.services.resources import Resources
from routing_engine import Router, Snapshot, Token
from routing_engine.markets.bridges import across_lane
from routing_engine.markets.constant_product import ConstantProductPool
from routing_engine.objective import BALANCED
from routing_engine.reference import token_registry
from tests.support.shop import Shop

BASE, OPTIMISM, ARBITRUM = 8453, 10, 42161
PRICE = 2_500 * 10**6
USDC, QUICK, SLOW = (token_registry.token("USDC", chain_id) for chain_id in (BASE, OPTIMISM, ARBITRUM))
WETH = token_registry.token("WETH", BASE)
SAVED = 1_040_000
"""What the slow way saves, in USDC's smallest units: 1.04 dollars for 32 minutes."""


def lane(token: Token, fee: int, seconds: int) -> object:
    return across_lane(
        token, USDC, capital_fee_e18=0, lp_fee_e18=0, relayer_gas_fee=fee, min_deposit=1, max_deposit=10**15,
        fill_time_s=seconds,
    )  # fmt: skip


@pytest.fixture
def list_for(resources: Resources, shop: Shop, tmp_path: Path) -> Callable[[float], PaymentOptions]:
    """List the ways to pay 2,500 USDC on Base from two chains, one quick and one cheap, at a value of time."""
    file = tmp_path / "market.json.gz"
    coin = ConstantProductPool(
        id="coin", protocol="uniswap_v2", token0=WETH, token1=USDC, reserve0=10**21, reserve1=3 * 10**12, fee_pips=3_000
    )
    markets = (coin, lane(QUICK, 1_500_000, 4), lane(SLOW, 1_500_000 - SAVED, 32 * 60))
    Snapshot(markets, gas_prices={BASE: 1, OPTIMISM: 1, ARBITRUM: 1}).save(file)  # type: ignore[arg-type]
    market = MarketService(load_offline(file), resources.clock)
    order_id = shop.create(order_price={"currency": "USDC", "amount": PRICE, "decimals": 6})

    def list_at(dollars_a_minute: float) -> PaymentOptions:
        config = replace(resources.config, value_of_time=dollars_a_minute)
        return list_options(replace(resources, config=config, market=market), order_id)

    return list_at


def order_of(found: PaymentOptions) -> list[Token]:
    tokens = [option.choice.token for option in found.options]
    return [token for token in tokens if token in (QUICK, SLOW)]


def test_nobody_waits_for_half_an_hour_to_save_a_dollar(list_for: Callable[[float], PaymentOptions]) -> None:
    assert order_of(list_for(DOLLARS_A_MINUTE)) == [QUICK, SLOW]


@pytest.mark.parametrize(("rate", "first"), [(0.0, SLOW), (0.03, SLOW), (0.04, QUICK), (1_000.0, QUICK)])
def test_the_rate_decides_to_the_cent(list_for: Callable[[float], PaymentOptions], rate: float, first: Token) -> None:
    """32 minutes less 4 seconds are worth 1.04 dollars at 3.26 cents a minute."""
    assert order_of(list_for(rate))[0] == first


def test_the_marks_say_what_is_true_of_money_and_time_alone(list_for: Callable[[float], PaymentOptions]) -> None:
    marked = {option.choice.token: option for option in list_for(1.0).options}
    assert not marked[SLOW].is_fastest
    assert not marked[QUICK].is_cheapest
    assert marked[USDC].is_cheapest


def test_each_route_is_chosen_at_the_same_rate(resources: Resources, shop: Shop) -> None:
    """In the sandbox: a dearer way is offered before a cheaper one only where the time that it saves is worth it."""
    order_id = shop.create(order_price={"currency": "USDC", "amount": PRICE, "decimals": 6})
    assert resources.chain_access.get(EnvMode.TEST) is None
    per_second = resources.config.value_of_time * 10**6 / 60
    weighed = [
        option.details["total"] + per_second * option.details["fill_time_s"]
        for option in list_options(resources, order_id).options
        if option.details["total"] is not None
    ]
    assert len(weighed) > 3
    assert all(later >= earlier - 1 for earlier, later in pairwise(weighed))


def test_a_minute_is_worth_as_much_of_any_price(resources: Resources) -> None:
    router = resources.market.router
    for due in (10**6, PRICE, 10**12):
        assert price_waiting(due, weigh_hour(router, USDC, due, 0.1), 60) == 100_000


def test_a_minute_is_worth_the_same_in_a_coin(resources: Resources) -> None:
    """The sandbox's ether is worth some thousands of dollars: a dime is a small part of a thousandth of it."""
    router, weth = resources.market.router, token_registry.token("WETH", 1)
    dime = price_waiting(10**18, weigh_hour(router, weth, 10**18, 0.1), 60)
    assert 10**18 // 100_000 < dime < 10**18 // 10_000


def test_without_a_price_in_dollars_the_engines_own_rate_counts() -> None:
    odd = Token(chain_id=BASE, address="0x" + "12" * 20, symbol="ODD", decimals=18)
    markets = (lane(QUICK, 1, 4),)
    router = Router(Snapshot(markets))  # type: ignore[arg-type]
    assert weigh_hour(router, odd, 10**18, 0.1) == pytest.approx(BALANCED.time_cost_per_s * 3600 * 10_000)


@pytest.mark.parametrize("text", ["-1", "1001", "a lot", "nan"])
def test_a_rate_that_makes_no_sense_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("VALUE_OF_TIME", text)
    with pytest.raises(ConfigError, match="VALUE_OF_TIME"):
        Config.from_env()
