"""The rate at which a single path earns nothing by leaving input."""

from __future__ import annotations

import numpy as np
import pytest

from routing_engine import Router, Snapshot
from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.allocations.exact_output import Flows
from routing_engine.search.allocations.reallocation import reallocate_paths
from routing_engine.search.allocations.start_price import find_start_price
from tests.support.markets import market_of, token

UNIT = 10**18
MARKET = "ac: A C 1000000 1000000 30bps\ncb: C B 20000 20000 30bps"
SOLD = 1_000.0 * UNIT


def flow_through(router: Router) -> Flows:
    graph = router.graph
    edges = [
        next(edge for edge in graph.find_edges(market) if graph.source[edge] == graph.index[token(start)])
        for market, start in (("ac", "A"), ("cb", "C"))
    ]
    start = Allocation.from_parts([(edges, SOLD)], 1, 2)
    return reallocate_paths(start, SOLD, graph.arrays, np.array([2**62]))


def measure_marginal_price(amount: float, reserve: float) -> float:
    paid = 0.997 * amount
    return 0.997 * (reserve / (reserve + paid)) ** 2


@pytest.mark.parametrize("gas", [0.0, 1e-4, 0.3, 5.0, 200.0])
def test_the_start_is_worth_what_no_market_earns_more_than_its_gas_at(gas: float) -> None:
    """The first pool's impact earns it about one unit, the second one's about forty-five."""
    router = Router(Snapshot(market_of(MARKET)))
    flows = flow_through(router)
    price = find_start_price(router.graph, flows, [gas * UNIT, gas * UNIT])
    between, first = flows.flows[1], measure_marginal_price(SOLD, 1e6 * UNIT)
    last = measure_marginal_price(between, 2e4 * UNIT)
    middle = last if flows.value - last * between >= gas * UNIT else (flows.value - gas * UNIT) / between
    earned = middle * (between - first * SOLD)
    expected = middle * first if earned >= gas * UNIT else (middle * between - gas * UNIT) / SOLD
    assert price == pytest.approx(expected, rel=1e-6)
    assert price <= expected
    assert (price < first * last * (1.0 - 1e-6)) == (gas > 1.0)
