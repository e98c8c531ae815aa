"""Markets of dust decide neither what is deep nor which amount gains most."""

from __future__ import annotations

import pytest

from routing_engine import InsufficientLiquidity, Router, Snapshot, Token
from routing_engine.analysis.best_amount import find_best_amount
from routing_engine.analysis.depth import measure_depth
from routing_engine.markets import BridgeLane, ConstantProductPool

ETHER = 10**18
COIN = Token(chain_id=1, address="0x" + "ee" * 20, symbol="ETH", decimals=18)
USD = Token(chain_id=1, address="0x" + "0d" * 20, symbol="USD", decimals=6)

FAR = Token(chain_id=2, address="0x" + "ee" * 20, symbol="ETH", decimals=18)


def pool(name: str, coins: int, units: int) -> ConstantProductPool:
    return ConstantProductPool(
        id=name, protocol=name, token0=COIN, token1=USD, reserve0=coins, reserve1=units, fee_pips=0
    )


def test_a_mispriced_pool_of_dust_sets_no_reference() -> None:
    deep = pool("deep", 10_000 * ETHER, 20_000_000 * 10**6)
    dust = pool("dust", 10**12, 100_000)  # at fifty times the price, a ten-millionth of what is traded
    alone = measure_depth(Router(Snapshot([deep])), COIN, USD, levels_bps=[10, 100])
    beside = measure_depth(Router(Snapshot([deep, dust])), COIN, USD, levels_bps=[10, 100])
    assert beside.best_price == pytest.approx(alone.best_price, rel=6e-4)
    for (_, found), (_, without) in zip(beside.levels, alone.levels, strict=True):
        assert found.amount_in == pytest.approx(without.amount_in, rel=0.5)


def test_a_market_smaller_than_the_first_size_is_measured_by_its_own_price() -> None:
    small = pool("small", 10**15, 2 * 10**6)
    depth = measure_depth(Router(Snapshot([small])), COIN, USD, levels_bps=[100])
    assert depth.best_price == pytest.approx(2_000, rel=1e-2)
    assert depth.levels[0][1].amount_in == pytest.approx(10**13, rel=0.3)


@pytest.mark.parametrize("limit", [{}, {"max_price_impact_bps": 200}])
def test_what_serves_less_than_the_first_size_is_measured(limit: dict[str, float]) -> None:
    """A range of few coins refuses a tenth of one, and whoever limits the impact refuses it of a small pool."""
    small = pool("small", 10**15, 2 * 10**6)
    lane = BridgeLane(
        id="lane", protocol="lane", token_in=COIN, token_out=FAR, max_amount_in=10**12, fill_time_s=1, gas=0
    )
    depth = measure_depth(Router(Snapshot([small, lane])), COIN, USD if limit else FAR, levels_bps=[100], **limit)
    assert depth.levels[0][1].amount_in == pytest.approx(10**13 if limit else 10**12, rel=0.3)


def test_where_nothing_is_served_the_first_size_is_named_and_none_that_nobody_asks_for() -> None:
    narrow = BridgeLane(
        id="lane", protocol="lane", token_in=COIN, token_out=FAR, min_amount_in=2, max_amount_in=2, fill_time_s=1, gas=0
    )
    with pytest.raises(InsufficientLiquidity, match=f"can serve {ETHER // 10} smallest"):
        measure_depth(Router(Snapshot([narrow])), COIN, FAR)


def test_a_gain_of_a_few_units_hides_no_larger_one() -> None:
    """As where a hop's token has few decimals: the first amounts gain, fall and rise by rounding."""

    def gain(amount: int) -> int | None:
        if amount > 10**15:
            return None
        smooth = amount // 100 - amount**2 // 10**13
        return smooth + (3 if amount == 4 else -min(amount, 2_000))

    assert gain(4) == 3
    best = find_best_amount(gain, 1, 10**18)
    assert best == pytest.approx(5 * 10**10, rel=1e-3)
