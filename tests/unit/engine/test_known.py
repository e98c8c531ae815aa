"""Kernels are asked nothing twice for one request, and nothing is begun anew that is proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.search.allocations.allocation import Allocation, Part
from routing_engine.search.paths.single import Single
from routing_engine.search.splits import split
from routing_engine.search.splits.renewal import STRETCHED, renew
from routing_engine.search.splits.split import Splitter
from tests.support.markets import market_of, token

POOLS = "ab0: A B 1000 1000 30bps\nab1: A B 500 500 30bps\nac: A C 900 900 30bps\ncb: C B 800 800 30bps"
ROUTER = Router(Snapshot(market_of(POOLS)))
ASKED = RouteRequest(token_in=token("A"), token_out=token("B"), amount=200 * 10**18)


def begin() -> tuple[Splitter, list[Part]]:
    """Return a splitter of a request of its own, and its best single path."""
    query = ROUTER._start_query(ASKED)
    single = cast(Single, query.find_single(query.allowed, 4))
    return query.create_splitter(query.allowed, len(single.edges)), [single.get_part()]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return what the kernel is asked."""
    calls: list[Any] = []
    kernel = split._generate_columns

    def note(*given: Any) -> Any:
        calls.append(given)
        return kernel(*given)

    monkeypatch.setattr(split, "_generate_columns", note)
    return calls


def test_the_same_is_found_once_and_given_twice(asked: list[Any]) -> None:
    splitter, starts = begin()
    first = splitter.improve(starts)
    expected, net, bound = first.list_parts(), first.net, first.bound
    assert len(expected) > 1
    first.paths.x[:] = 0.0  # as whoever reallocates may
    second = splitter.improve(starts)
    assert (second.list_parts(), second.net, second.bound) == (expected, net, bound)
    assert len(asked) == 1


def test_what_differs_is_asked_for(asked: list[Any]) -> None:
    splitter, starts = begin()
    market = int(splitter.graph.forward.edges[starts[0][0][0]]["market"])
    other = next(each for each in range(4) if each != market)
    edges, amount = starts[0]
    splitter.improve(starts)
    splitter.improve([(edges, amount / 2)])
    splitter.improve(starts, is_judged=False)
    allowed = splitter.problem.allowed & (np.arange(splitter.problem.allowed.size) != other)
    splitter.with_problem(splitter.problem._replace(allowed=allowed)).improve(starts)
    splitter.judge(starts)
    begin()[0].improve(starts)
    assert len(asked) == 6


class Beginner:
    """Stands for a splitter: what a closer look proves, and what is found when an allocation is begun anew."""

    is_over = False

    def __init__(self, closer: Allocation, found: Allocation) -> None:
        self._closer, self._found = closer, found
        self.begun: list[Sequence[Part]] = []

    def look_closer(self, allocation: Allocation) -> Allocation:
        return replace(allocation, bound=self._closer.bound, is_judged=True)

    def improve(self, starts: Sequence[Part], **options: bool) -> Allocation:
        self.begun.append(starts)
        return self._found


@pytest.mark.parametrize(("proven", "found", "begun"), [(100.0002, 100.0, 0), (100.05, 100.05, 1)])
def test_nothing_is_begun_anew_that_cannot_be_better(proven: float, found: float, begun: int) -> None:
    parts = [([0], 1.0), ([1], 1.0)]
    loose = replace(Allocation.from_parts(parts, 2, 4), net=100.0, bound=100.1, max_hops=4)
    closer = replace(loose, bound=proven, is_judged=True)
    beginner = Beginner(closer, replace(loose, net=found, bound=float("inf")))
    renewed = renew(cast(Splitter, beginner), loose, STRETCHED + 0.1)
    assert (renewed.net, renewed.bound, len(beginner.begun)) == (found, proven, begun)
