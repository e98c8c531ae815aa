"""Markets of dust decide neither what is deep nor which amount gains most."""

from __future__ import annotations

import pytest

from routing_engine import Router, Snapshot, Token
from routing_engine.analysis.best_amount import find_best_amount
from routing_engine.analysis.depth import measure_depth
from routing_engine.markets import ConstantProductPool

ETHER = 10**18
COIN = Token(chain_id=1, address="0x" + "ee" * 20, symbol="ETH", decimals=18)
USD = Token(chain_id=1, address="0x" + "0d" * 20, symbol="USD", decimals=6)


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
