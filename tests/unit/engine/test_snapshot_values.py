"""Snapshots are values: equal by content, and shown in a line; so are markets."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path
from random import Random

import pytest

from routing_engine import BadMarketFile, InvalidMarket, Snapshot
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
    partial = Snapshot([], refused={"empty": 4, "fee_unknown": 900, "unsupported_type:x": 30, "type_unknown": 4})
    assert repr(partial).endswith(", 938 left out: 900 fee_unknown, 30 unsupported_type:x, 4 empty, …)")
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


@pytest.mark.parametrize("name", ["blocks", "gas_prices", "id", "markets", "refused", "taken_at", "tokens"])
def test_nothing_of_a_snapshot_can_be_assigned_or_changed(name: str) -> None:
    found = Snapshot(market_of(PAIRS), gas_prices={1: 5})
    before, content = found.id, getattr(found, name)
    with pytest.raises(FrozenInstanceError, match=f"cannot assign to field {name!r}"):
        setattr(found, name, {})
    with pytest.raises(FrozenInstanceError, match=f"cannot delete field {name!r}"):
        delattr(found, name)
    if name in {"blocks", "gas_prices", "markets", "refused"}:
        with pytest.raises(TypeError, match="does not support item assignment"):
            getattr(found, name)["ab"] = None
    assert getattr(found, name) == content
    assert pickle.loads(pickle.dumps(found)).id == found.apply().id == before


def test_markets_of_one_id_are_refused_with_their_ids() -> None:
    markets = market_of(f"{PAIRS}\nab: A B 1000 2001 30bps\nlane: A@1 > A@10 fee=2 10bps 60s")
    for build in (Snapshot, Snapshot(market_of("xy: X Y 1 1 5bps")).apply):
        with pytest.raises(InvalidMarket, match=r"^markets: .*more than once: ab, lane; give each market its own"):
            build(markets)
    many = [market for number in range(12) for market in 2 * market_of(f"m{number}: A B 1 1 5bps")]
    with pytest.raises(InvalidMarket, match=r"m8, m9, …; give"):
        Snapshot(many)


def test_a_file_with_markets_of_one_id_is_refused_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "market.json"
    Snapshot(market_of(PAIRS)).save(path)
    document = json.loads(path.read_text())
    document["markets"].append(document["markets"][1])
    path.write_text(json.dumps(document))
    with pytest.raises(BadMarketFile, match=r"markets\.3\.id: 'bc' stands there already"):
        Snapshot.load(path)


def test_a_file_that_gives_a_token_two_numbers_of_decimals_is_refused_with_the_place(tmp_path: Path) -> None:
    """The later row had counted."""
    path = tmp_path / "market.json"
    Snapshot(market_of(PAIRS)).save(path)
    document = json.loads(path.read_text())
    chain_id, address, symbol, decimals = document["tokens"][0]
    document["tokens"].append([chain_id, address.upper().replace("0X", "0x"), symbol, decimals + 1])
    path.write_text(json.dumps(document))
    with pytest.raises(BadMarketFile, match=r"tokens\.4: gives 0x\w+@1 "):
        Snapshot.load(path)


@pytest.mark.parametrize("build", [Snapshot, Snapshot(market_of(PAIRS)).apply])
def test_what_is_no_market_is_refused(build: Callable[[object], Snapshot]) -> None:
    with pytest.raises(InvalidMarket, match=r"^markets: 'a' is no market; give pools and lanes, or load a file"):
        build([*market_of(PAIRS), "a"])
