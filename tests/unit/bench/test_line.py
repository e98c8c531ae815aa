"""How long callers in a line wait for the router, as `benchmarks.load` counts it."""

from __future__ import annotations

import pytest

from benchmarks.load.router_loops import find_p99, wait_in_line


def test_who_asks_waits_for_those_who_asked_before() -> None:
    assert wait_in_line([1.0, 2.0, 4.0, 8.0], callers=1) == [1.0, 2.0, 4.0, 8.0]
    assert wait_in_line([1.0, 2.0, 4.0, 8.0], callers=3) == [7.0, 14.0]
    assert wait_in_line([1.0, 2.0], callers=8) == [3.0], "of fewer, all there are"


def test_the_slowest_hundredth_is_left_out() -> None:
    assert find_p99([0.001 * each for each in range(200)]) == pytest.approx(198)
