"""Of two allocations of one amount, what holds for the better one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine.search.allocations.allocation import Allocation, choose_better

ONE = replace(Allocation.from_parts([([0, 1], 10.0)], 1, 2), net=100.0, bound=104.0, slope=1.0, max_hops=4)


@pytest.mark.parametrize(("hops", "bound"), [(3, 104.0), (4, 101.0), (5, 101.0)])
def test_a_bound_over_fewer_hops_says_nothing_of_a_route_with_more(hops: int, bound: float) -> None:
    worse = replace(ONE, net=99.0, bound=101.0, slope=2.0, max_hops=hops)
    for pair in (ONE, worse), (worse, ONE):
        better = choose_better(*pair)
        assert (better.net, better.bound, better.max_hops) == (100.0, bound, 4)
        assert better.slope == (1.0 if bound == ONE.bound else 2.0)
