"""Markets of which nobody takes the differences between pools: small paths over wrong prices keep out no great ones."""

from __future__ import annotations

import pytest

from benchmarks.instances import constant_product_market
from routing_engine import Router, RouteRequest


@pytest.mark.parametrize(
    ("seed", "token_in", "token_out", "amount", "least"),
    [
        (8, "T33", "T17", 0.3, 1.43e29),  # once 1.344e29
        (7, "T29", "T18", 0.3, 2.60e22),  # once 2.515e22
        (3, "T32", "WBTC", 0.3, 1.46e27),  # once 1.427e27
    ],
)
def test_a_better_path_takes_the_place_of_small_ones(
    seed: int, token_in: str, token_out: str, amount: float, least: float
) -> None:
    """It ran in a circle with them, and no search added it; `amount` is a part of the deepest pool."""
    market = constant_product_market(tokens=60, pools=300, seed=seed, disagreement=1.0)
    start, end = market.token(f"{token_in}@1"), market.token(f"{token_out}@1")
    reserves = (
        pool.reserve0 if pool.token0 == start else pool.reserve1
        for pool in market.markets.values()
        if start in pool.tokens and hasattr(pool, "reserve0")
    )
    request = RouteRequest(token_in=start, token_out=end, amount=int(max(reserves) * amount))
    assert Router(market).find_routes(request).best().amount_out >= least
