"""Amounts of so few units of a token on the way that what rounding takes counts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool
from routing_engine.search import certified_split
from routing_engine.search.allocations.allocation import Part
from routing_engine.search.splits.split import Splitter
from tests.support.markets import token

A, B, COINS = token("A"), token("B"), [token(name, 2) for name in ("C", "D", "E")]


def pool(name: str, ends: Sequence[object], depths: Sequence[float]) -> ConstantProductPool:
    """Return a pool of whole tokens, at a fee of 5 bps."""
    reserves = [int(depth * 10**each.decimals) for each, depth in zip(ends, depths, strict=True)]
    return ConstantProductPool(
        id=name, protocol="pool", token0=ends[0], token1=ends[1], reserve0=reserves[0], reserve1=reserves[1],
        fee_pips=500,
    )  # fmt: skip


def coarse_market(rng: random.Random) -> Router:
    """Return a market in which the best ways go over tokens of two decimals, and take more where more is sold."""
    pools = [pool("ab", (A, B), (100, 100 * rng.uniform(0.99, 1.0)))]
    for place, coin in enumerate(COINS):
        pools += [
            pool(f"a{place}", (A, coin), (10, 10 * rng.uniform(1.0, 1.02))),
            pool(f"b{place}", (coin, B), (10, 10 * rng.uniform(1.0, 1.02))),
        ]
    return Router(Snapshot(pools))


def forget(*_: object) -> tuple[()]:
    """Find nothing."""
    return ()


def test_a_way_is_left_where_it_loses_more_units_than_it_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    better = 0
    for seed in range(40):
        rng = random.Random(f"coarse {seed}")
        router, amount = coarse_market(rng), int(10 ** rng.uniform(16.5, 18))
        request = RouteRequest(token_in=A, token_out=B, amount=amount)
        counted = router.find_routes(request).best().amount_out
        with monkeypatch.context() as patched:
            patched.setattr(certified_split, "keep_whole_units", forget)
            patched.setattr(certified_split, "sell_whole_units", forget)
            forgotten = router.find_routes(request).best().amount_out
        assert counted >= forgotten, seed
        better += counted > forgotten * 1.001
    assert better > 10


def test_what_few_units_bring_is_bought_for_hardly_more() -> None:
    dearer = []
    for seed in range(40):
        rng = random.Random(f"there and back {seed}")
        router, amount = coarse_market(rng), int(10 ** rng.uniform(16.5, 18))
        there = RouteRequest(token_in=A, token_out=B, amount=amount)
        back = replace(there, amount=router.find_routes(there).best().amount_out, side="exact_out")
        dearer.append(router.find_routes(back).best().amount_in / amount - 1.0)
    assert max(dearer) < 0.01
    assert sum(each <= 0.0 for each in dearer) > 30


def test_where_hardly_a_unit_is_lost_nothing_else_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(splitter: Splitter, starts: Sequence[Sequence[Part]]) -> list[object]:
        raise AssertionError("rounding takes next to nothing of this")

    monkeypatch.setattr(certified_split, "keep_whole_units", refuse)
    pools = [pool("ab", (A, B), (1e6, 1e6)), pool("ab1", (A, B), (1e6, 1e6))]
    assert (
        len(Router(Snapshot(pools)).find_routes(RouteRequest(token_in=A, token_out=B, amount=10**21)).best().hops) == 2
    )
