"""The liquidity of an invented concentrated pool: a base over all prices, and positions around the present one."""

from __future__ import annotations

from routing_engine.amm.concentrated.tick_math import MAX_TICK
from routing_engine.markets.concentrated.positions import lay_positions
from routing_engine.sandbox.draws import Draws
from routing_engine.sandbox.plan import PoolPlan

_PEGGED_BANDS = ((6, 35), (30, 30), (150, 20), (1200, 10))
_VOLATILE_BANDS = ((250, 10), (900, 25), (3000, 35), (12_000, 20))
"""(Ticks to each side, percent of the pool's value); the rest lies over all prices."""
_BASE_PERCENT = 100 - sum(percent for _, percent in _PEGGED_BANDS)

Ticks = tuple[tuple[int, int], ...]


def sandbox_ticks(plan: PoolPlan, sqrt_price_x96: int, tick: int, value1: int, draws: Draws) -> tuple[int, Ticks]:
    """Spread a pool's value over positions that all hold the present price.

    Parameters
    ----------
    plan : PoolPlan
        What the pool is.
    sqrt_price_x96, tick : int
        The present price.
    value1 : int
        Value of both sides together, in smallest units of token1.
    draws : Draws
        Decides where each position is centred.

    Returns
    -------
    liquidity : int
        In use at the present price.
    ticks : tuple of (int, int)
        (index, net liquidity) in the order of the index.
    """
    spacing = plan.tick_spacing
    edge = MAX_TICK // spacing * spacing
    positions = [(-edge, edge, _BASE_PERCENT)]
    for width, percent in _PEGGED_BANDS if plan.pegged else _VOLATILE_BANDS:
        centre = tick + draws.integer(f"{plan.label}/centre/{width}", -width // 2, width // 2)
        lower = (centre - width) // spacing * spacing
        upper = -((-centre - width) // spacing) * spacing
        positions.append((max(lower, -edge), min(upper, edge), percent))
    values = [(lower, upper, value1 * percent // 100) for lower, upper, percent in positions]
    return lay_positions(sqrt_price_x96, tick, values)
