"""Equal snapshots answer alike, in whatever order their markets were given."""

from __future__ import annotations

import random

import numpy as np
import pytest

from routing_engine import Router, RouteRequest, Snapshot
from tests.properties.test_few_units import TOKENS, make_market


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_markets_changes_no_answer(seed: int) -> None:
    """Found: up to 351 bps of the net on small markets whose pools stood in another order."""
    rng = random.Random(f"order {seed}")
    snapshot = make_market(rng)
    markets = [*snapshot.markets.values()]
    rng.shuffle(markets)
    shuffled = Snapshot(markets, gas_prices=snapshot.gas_prices)
    assert shuffled.id == snapshot.id
    one, other = Router(snapshot), Router(shuffled)
    for name in ("source", "target"):
        assert np.array_equal(getattr(one.graph, name), getattr(other.graph, name))
    for _ in range(4):
        token_in, token_out = rng.sample(TOKENS, 2)
        request = RouteRequest(token_in=token_in, token_out=token_out, amount=int(10 ** rng.uniform(1, 4)))
        assert one.find_routes(request) == other.find_routes(request)
