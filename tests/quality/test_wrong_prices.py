"""Markets of which nobody takes the differences between pools: small paths over wrong prices keep out no great ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.instances import constant_product_market
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.token_fields import Transfers


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


@pytest.mark.shared_data
def test_markets_of_next_to_nothing_hide_no_other(shared_data: Path) -> None:
    """Eight of them were tried and failed, and the search ended with one path, of 17,817 UniFi; see ADR 158.

    The bound of what was found after them knew nothing of what might flow there, and was below the answer.
    """
    market = Snapshot.load(shared_data / "markets" / "eth_univ2_all_2020_10.json.gz", tuple(Transfers))
    request = RouteRequest(
        token_in=market.token("0xeddda06a90ffaaea3db0c308f29f5798b7de4325@1"),  # HUOGUO
        token_out=market.token("0x9e78b8274e1d6a76a0dbbf90418894df27cbceb5@1"),  # UniFi
        amount=650_486 * 10**18,
        gas_prices={1: 40 * 10**9},
    )
    answer = Router(market).find_routes(request)
    assert answer.best().net_amount >= 21_860 * 10**18
    assert answer.certificate is not None
    assert answer.certificate.gap_bps is not None
