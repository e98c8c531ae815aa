"""A market for trying things out: five chains, real tokens, real protocols' shapes; prices and depths are invented.

It needs no network, no file and no clock, and is the same for the same seed everywhere. No loop of trades gains in it.

May import `amm`, `fixed_point`, `market`, `markets`, `model`, `reference` and `token_fields`. Begin with `pools.py`.
"""

from __future__ import annotations

from functools import lru_cache

from routing_engine.market import Market
from routing_engine.sandbox.draws import Draws
from routing_engine.sandbox.lanes import draw_lanes
from routing_engine.sandbox.pools import draw_pools, list_wraps
from routing_engine.sandbox.prices import gas_prices, usd_prices

DEFAULT_SEED = 2025


@lru_cache(maxsize=4)
def sandbox_markets(seed: int = DEFAULT_SEED) -> tuple[Market, ...]:
    """Return every pool, wrapping contract and bridge lane.

    Parameters
    ----------
    seed : int
        Decides invented addresses, how far each pool strays from the fair price, depths, positions and lane limits.
    """
    draws = Draws(seed)
    return (*draw_pools(draws), *list_wraps(), *draw_lanes(draws))


__all__ = ["DEFAULT_SEED", "gas_prices", "sandbox_markets", "usd_prices"]
