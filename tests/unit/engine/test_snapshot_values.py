"""Snapshots are values: equal by content, and shown in a line; so are markets."""

from __future__ import annotations

import pickle
from random import Random

from routing_engine import Snapshot
from tests.support.markets import market_of
from tests.support.mixed import mixed_markets

PAIRS = "ab: A B 1000 2000 30bps\nbc: B C 10 10 5bps\nlane: A@1 > A@10 fee=1 10bps 60s"
TIME = "2026-01-01T00:00:00Z"


def test_snapshots_of_equal_content_are_equal_however_they_were_reached() -> None:
    start = Snapshot(market_of(PAIRS), gas_prices={1: 5})
    reached = Snapshot(market_of("bc: B C 7 7 5bps"), gas_prices={1: 5}).apply(market_of(PAIRS))
    assert start == reached
    assert {start: "found"}[reached] == "found"
    assert start == pickle.loads(pickle.dumps(start))
    assert start == start.apply(blocks={1: 8}, taken_at=TIME)
    assert start != start.apply(market_of("bc: B C 10 11 5bps"))
    assert start != start.apply(removed=["bc"])
    assert start != start.apply(gas_prices={1: 6})
    assert start != start.id


def test_a_snapshot_shows_how_much_it_holds_its_name_and_its_time() -> None:
    found = Snapshot(market_of(PAIRS), taken_at=TIME)
    assert repr(found) == f"Snapshot(3 markets, chains [1, 10], id {found.id[:8]}, taken at '{TIME}')"
    assert repr(Snapshot([])) == f"Snapshot(0 markets, chains [], id {Snapshot([]).id[:8]})"
    assert {"apply", "gas_prices", "id", "markets", "taken_at", "tokens"} <= set(dir(found))


def test_a_market_shows_its_kind_its_id_and_its_tokens_in_a_line() -> None:
    shown = [repr(market) for market in market_of(PAIRS)]
    assert shown[0] == "ConstantProductPool('ab', 'A@1, B@1')"
    assert shown[2] == "BridgeLane('lane', 'A@1, A@10')"
    for seed in range(20):
        for market in mixed_markets(Random(seed)):
            assert repr(market).startswith(f"{type(market).__name__}({market.id!r}, '")
            assert len(repr(market)) < 120
            assert {"edges", "id", "kind", "swap_exact_in", "tokens"} <= set(dir(market))
