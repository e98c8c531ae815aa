"""The sandbox's pools, built from the plan at prices that hold no free money."""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt

from routing_engine.amm.concentrated.tick_math import tick_at_sqrt_ratio
from routing_engine.markets import ConcentratedPool, ConstantProductPool, NativeWrap
from routing_engine.sandbox.chains import sandbox_chains
from routing_engine.sandbox.draws import Draws
from routing_engine.sandbox.plan import PoolPlan, plan_pools
from routing_engine.sandbox.positions import sandbox_ticks
from routing_engine.sandbox.prices import convert_usd, find_price_ratio

_PPM = 10**6
_NOISE_PERCENT = 40
_MAX_NOISE_PPM = 300
"""A pool's price strays from the fair one by less than its fee, so that no loop of trades gains."""


def list_wraps() -> Iterator[NativeWrap]:
    """Yield the wrapping contract of every chain."""
    for chain in sandbox_chains():
        yield NativeWrap.of(chain)


def draw_pools(draws: Draws) -> Iterator[ConstantProductPool | ConcentratedPool]:
    """Yield every planned pool."""
    for plan in plan_pools():
        yield _concentrated(plan, draws) if plan.tick_spacing else _constant_product(plan, draws)


def _constant_product(plan: PoolPlan, draws: Draws) -> ConstantProductPool:
    numerator, denominator = _draw_price(plan, draws)
    reserve0 = convert_usd(plan.token0, _micro_dollars(plan, draws) // 2)
    return ConstantProductPool(
        id=f"{plan.token0.chain_id}:{draws.address(plan.label)}",
        protocol=plan.protocol,
        token0=plan.token0,
        token1=plan.token1,
        reserve0=reserve0,
        reserve1=reserve0 * numerator // denominator,
        fee_pips=plan.fee_pips,
    )


def _concentrated(plan: PoolPlan, draws: Draws) -> ConcentratedPool:
    numerator, denominator = _draw_price(plan, draws)
    sqrt_price_x96 = isqrt((numerator << 192) // denominator)
    tick = tick_at_sqrt_ratio(sqrt_price_x96)
    value1 = convert_usd(plan.token1, _micro_dollars(plan, draws))
    liquidity, ticks = sandbox_ticks(plan, sqrt_price_x96, tick, value1, draws)
    name = draws.pool_id(plan.label) if plan.protocol == "uniswap_v4" else draws.address(plan.label)
    return ConcentratedPool(
        id=f"{plan.token0.chain_id}:{name}",
        protocol=plan.protocol,
        token0=plan.token0,
        token1=plan.token1,
        fee_pips=plan.fee_pips,
        tick_spacing=plan.tick_spacing,
        sqrt_price_x96=sqrt_price_x96,
        tick=tick,
        liquidity=liquidity,
        ticks=ticks,
    )


def _draw_price(plan: PoolPlan, draws: Draws) -> tuple[int, int]:
    """Return token1 per token0 in smallest units, as numerator and denominator."""
    limit = min(plan.fee_pips * _NOISE_PERCENT // 100, _MAX_NOISE_PPM)
    numerator, denominator = find_price_ratio(plan.token0, plan.token1)
    return numerator * (_PPM + draws.integer(f"{plan.label}/price", -limit, limit)), denominator * _PPM


def _micro_dollars(plan: PoolPlan, draws: Draws) -> int:
    return plan.dollars * draws.integer(f"{plan.label}/depth", 70, 130) * _PPM // 100
