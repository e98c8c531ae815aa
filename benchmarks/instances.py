"""Generated markets, the same for a seed on every machine."""

from __future__ import annotations

import random

from routing_engine import Snapshot, Token
from routing_engine.markets import ConstantProductPool


def constant_product_market(*, tokens: int = 5_000, pools: int = 20_000, seed: int = 1) -> Snapshot:
    """Return a scale-free market of constant-product pools whose prices agree within their fees.

    A few hubs hold most of the pools and depth, as wrapped coins and stablecoins do; a pool's depth is log-normal.
    """
    rng = random.Random(seed)
    nodes = [
        Token(chain_id=1, address=f"0x{number + 1:040x}", symbol=f"T{number}", decimals=18) for number in range(tokens)
    ]
    worth = [10 ** rng.uniform(-4, 4) for _ in nodes]
    markets = []
    for number in range(pools):
        # Every token first gets a pool with a hub; the rest attach by a power law.
        first = number if number < tokens else int(tokens * rng.random() ** 4)
        second = int(min(first or 20, 20) * rng.random()) if number < tokens else int(tokens * rng.random() ** 4)
        if first == second:
            second = (second + 1) % tokens
        depth = rng.lognormvariate(12, 2) * (30 if max(first, second) < 20 else 1)
        skew = 1 + rng.uniform(-0.002, 0.002)
        markets.append(
            ConstantProductPool(
                id=f"1:0x{number:040x}",
                protocol="uniswap_v2",
                token0=nodes[first],
                token1=nodes[second],
                reserve0=int(depth / worth[first] * 10**18) + 1,
                reserve1=int(depth / worth[second] * skew * 10**18) + 1,
                fee_pips=3000,
            )
        )
    return Snapshot(markets, gas_prices={1: 0})
