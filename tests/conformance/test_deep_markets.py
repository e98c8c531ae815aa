"""Fluid, Ekubo and Bancor pools and vaults pass the suite."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.testing import check_market
from routing_engine.amm.ekubo_ticks import Q128
from routing_engine.markets.fluid import OFF
from tests.support.deep_strategies import bancor_pools, ekubo_pools, fluid_pools, vaults

SEEDS = st.integers(0, 2**32)


def fluid_units(pool) -> int:
    """Units of a swap's rounding: one adjusted unit, of either token, for each of two pools at each of four steps."""
    return 8 * 10 ** max(0, pool.token0.decimals - 12, pool.token1.decimals - 12)


def both_on(pool) -> bool:
    return pool.collateral != OFF and pool.debt != OFF


@given(pool=fluid_pools(), seed=SEEDS)
@settings(max_examples=120, deadline=None, derandomize=True)
def test_fluid_pools_conform(pool, seed):
    # The contract divides an input between its two pools before it takes the fee: not quite the best division.
    gain = 1e-12 if both_on(pool) else 0.0
    units = fluid_units(pool)
    check_market(pool, seed=seed, samples=4, rounding_units=units, split_units=units, split_gain=gain)


def ekubo_units(pool) -> int:
    """Units of a swap's rounding: those of each step, and what one bit of the price is worth at the liquidity."""
    scale = pool.sqrt_ratio / Q128
    most = max([pool.liquidity, *(abs(net) for _, net in pool.ticks)])
    return 4 * (len(pool.ticks) + 2) + int(4 * len(pool.ticks or "1") * most * max(scale, 1 / scale) * 2.0**-61)


@given(pool=ekubo_pools(), seed=SEEDS)
@settings(max_examples=120, deadline=None, derandomize=True)
def test_ekubo_pools_conform(pool, seed):
    pool.validate()
    check_market(pool, seed=seed, samples=4, rounding_units=ekubo_units(pool))


@given(pool=bancor_pools(), seed=SEEDS)
@settings(max_examples=120, deadline=None, derandomize=True)
def test_bancor_pools_conform(pool, seed):
    # The fee stays in the pool, in the token bought, and is rounded down once more with a second trade.
    check_market(pool, seed=seed, samples=4, split_gain=pool.fee_pips / 1e6, split_units=1)


@given(vault=vaults(), seed=SEEDS)
@settings(max_examples=120, deadline=None, derandomize=True)
def test_vaults_conform(vault, seed):
    check_market(vault, seed=seed, samples=4)
