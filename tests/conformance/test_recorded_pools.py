"""Recorded pools of every kind pass the suite: all of rare kinds, some of common ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from adapters.testing import check_market
from benchmarks.parts.market_shares import market_files
from routing_engine import formats
from routing_engine.token_fields import Transfers
from tests.support.tolerances import tolerances

EVERY = {
    "constant_product": 200, "concentrated": 80, "weighted": 40, "bancor": 30, "fluid": 8, "balancer_stable": 3,
    "balancer_linear": 3, "stableswap": 9, "cryptoswap": 3,
}  # fmt: skip
"""Of these kinds one pool in so many, for time; a run over all of them passed."""

DUST = "1:0xda5b670ccd418a187a3066674a8002adc9356ad1"
"""A StableSwap pool nearly drained, where the contract itself turns a round trip of one unit into two."""


@pytest.mark.shared_data
def test_recorded_pools_of_every_kind_conform(shared_data: Path) -> None:
    met: Counter[str] = Counter()
    for path in market_files(shared_data / "markets"):
        for market in formats.load(path, tuple(Transfers)).markets:
            met[market.kind] += 1
            if market.id != DUST and met[market.kind] % EVERY.get(market.kind, 1) == 0:
                check_market(market, samples=1, **tolerances(market))
    assert len(met) == 14
    assert met.total() > 16_000
