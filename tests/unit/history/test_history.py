"""A recording gives back each block's market to the unit, in bounded memory, in any order."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from routing_engine import (
    BadMarketFile,
    BadRecording,
    History,
    HistoryWriter,
    InvalidRequest,
    Router,
    RouteRequest,
    Snapshot,
    Token,
)
from routing_engine.history.checkpoints import Checkpoints
from routing_engine.history.sources import RecordingFile
from tests.support.recordings import FIRST, TOKENS, is_same, record


@pytest.mark.parametrize("keep", [2, 5, 64])
def test_every_block_is_what_it_was(market: list[Snapshot], recorded: Path, keep: int) -> None:
    history = History.open(recorded, keep=keep)
    assert history.blocks == tuple(range(FIRST, FIRST + len(market)))
    rng = random.Random(keep)
    for place in rng.choices(range(len(market)), k=60):
        assert is_same(history.at(FIRST + place), market[place])
    assert all(map(is_same, history, market))
    assert all(map(is_same, reversed(history), reversed(market)))
    assert is_same(history[-1], market[-1])
    part = history[10:50:3]
    assert part.blocks == tuple(range(FIRST + 10, FIRST + 50, 3))
    assert all(map(is_same, part, market[10:50:3]))
    assert len(history[:0]) == 0 == len(history[:0].to_frame())


def test_memory_is_bounded_and_the_way_back_is_cheap(recorded: Path) -> None:
    source = RecordingFile(recorded)
    kept = Checkpoints(source, 16)
    steps = 0
    apply = source.apply_steps

    def count(first: int, last: int, before: Snapshot) -> Snapshot:
        nonlocal steps
        steps += last - first + 1
        return apply(first, last, before)

    source.apply_steps = count  # type: ignore[method-assign]
    places = range(len(source.blocks))
    for place in reversed(places):
        kept.find(place)
        assert len(kept) <= 16
    assert steps < 3 * len(places)


def test_what_is_kept_shares_its_markets(recorded: Path) -> None:
    """However far blocks are from each other: many markets that share nothing would be many times as large."""
    source = RecordingFile(recorded)
    kept, last = Checkpoints(source, 64), len(source.blocks) - 1
    for place in (3, last, 3, last):
        kept.find(place)
        assert {source.find_whole(each) for each in kept._kept} == {source.find_whole(place)}


def test_all_markets_are_written_again_now_and_then(recorded: Path) -> None:
    """So that no block needs more than so many changes."""
    source = RecordingFile(recorded)
    starts = sorted({source.find_whole(place) for place in range(len(source.blocks))})
    assert len(starts) > 5
    costs = [sum(4 + each.changed + each.removed for each in source.blocks[one + 1 : other])
             for one, other in pairwise(starts)]  # fmt: skip
    assert max(costs) < 8 * 25


def test_neighbours_share_what_did_not_change(recorded: Path) -> None:
    """Also where all markets were written again in between, so that routers follow cheaply."""
    before: Snapshot | None = None
    for snapshot in History.open(recorded):
        shared = sum(
            snapshot.markets[name] is each
            for name, each in (before.markets if before else {}).items()
            if name in snapshot.markets
        )
        assert before is None or shared >= len(before.markets) - 3
        before = snapshot


def test_any_reader_of_gzip_reads_it(market: list[Snapshot], recorded: Path) -> None:
    lines = [json.loads(line) for line in gzip.decompress(recorded.read_bytes()).splitlines()]
    assert lines[0]["head"]["format"] == "routing-engine-recording"
    steps = [line for line in lines if line["head"].get("kind") != "whole"]
    assert [line["head"]["block"]["snapshot_id"] for line in steps] == [snapshot.id for snapshot in market]
    moved = next(each for each in steps[1]["changed"])
    assert moved.keys() <= {"id", "reserve0", "sqrt_price_x96", "tick", "ticks"}, "only what changed"


def test_routers_follow_as_if_made_anew(recorded: Path) -> None:
    history = History.open(recorded)[5:9]
    request = RouteRequest(token_in=TOKENS[0], token_out=TOKENS[2], amount=10**18)
    for router, snapshot in zip(history.routers(), history, strict=True):
        assert router.find_routes(request) == Router(snapshot).find_routes(request)


def test_a_table_has_a_row_for_each_block(market: list[Snapshot], recorded: Path) -> None:
    frame = History.open(recorded).to_frame()
    assert frame["block"].tolist() == [FIRST + n for n in range(len(market))]
    assert frame["changed"].tolist()[:3] == [0, 2, 2]
    assert frame["changed"].iloc[7] == 3, "one of them is new"
    assert frame["removed"].iloc[9] == 1
    assert frame["gas_price_gwei"].iloc[5] == pytest.approx(1.000000005)
    assert frame["markets"].tolist() == [len(each.markets) for each in market]


def test_what_cannot_be_asked_or_written_is_named(market: list[Snapshot], recorded: Path, tmp_path: Path) -> None:
    history = History.open(recorded)
    with pytest.raises(InvalidRequest, match=r"block: 999 is not recorded; next to it are 1,000"):
        history.at(999)
    with pytest.raises(IndexError):
        history[len(history)]
    with pytest.raises(InvalidRequest, match="keep"):
        History.open(recorded, keep=1)
    with pytest.raises(BadRecording, match="chain_id: is 1, and 10 is to be recorded"):
        HistoryWriter(recorded, 10)
    with HistoryWriter(tmp_path / "file", 1) as writer:
        with pytest.raises(BadRecording, match="being written by another"):
            HistoryWriter(tmp_path / "file", 1)
        with pytest.raises(BadRecording, match="block: of chain 1 is missing"):
            writer.append(Snapshot(market[0].markets.values()))


def test_gone_gas_prices_and_decimals_that_were_put_right(market: list[Snapshot], tmp_path: Path) -> None:
    """What a list of changes cannot say is written whole."""
    last = market[2]
    silent = Snapshot(last.markets.values(), blocks={1: FIRST + 3})
    right = Token(chain_id=1, address=TOKENS[0].address, symbol="T0", decimals=6)
    pools = [replace(each, token0=right) if each.token0 == right else each for each in last.markets.values()]
    counted = Snapshot(pools, blocks={1: FIRST + 4})
    assert counted.id != silent.id
    history = History.open(record(tmp_path / "odd", [*market[:3], silent, counted]))
    assert all(map(is_same, history, [*market[:3], silent, counted]))
    assert {token.decimals for token in history[-1].tokens} == {6, 18}


def test_the_neutral_format_opens_too(tmp_path: Path) -> None:
    token = {"symbol": "T", "decimals": 18}
    tokens = [{**token, "address": TOKENS[0].address}, {**token, "address": TOKENS[1].address}]

    def pool(name: str, reserve: int, **more: object) -> dict[str, object]:
        return {"id": name, "type": "cpmm", "protocol": "uniswap_v2", "chain_id": 1, "fee": "0.003",
                "reserves": [str(reserve), "1000000"], "tokens": tokens, **more}  # fmt: skip

    base, deltas = tmp_path / "base.json", tmp_path / "deltas.json"
    base.write_text(
        json.dumps({"meta": {"chain_id": 1, "block": 5}, "pools": [pool("1:a", 10**6), pool("1:b", 10**6)]})
    )
    blocks = [
        {"block": 6, "changed": [pool("1:a", 10**6), pool("1:b", 2 * 10**6)]},
        {"block": 8, "changed": [pool("1:a", 0, type="element")]},
    ]
    deltas.write_text(json.dumps({"meta": {"chain_id": 1}, "blocks": blocks}))
    history = History.open(base, deltas=deltas)
    assert history.blocks == (5, 6, 8)
    frame = history.to_frame()
    assert frame["changed"].tolist() == [0, 1, 0], "a pool that is listed and the same did not change"
    assert frame["removed"].tolist() == [0, 0, 1]
    assert [sorted(each.markets) for each in history] == [["1:a", "1:b"], ["1:a", "1:b"], ["1:b"]]
    copied = History.open(record(tmp_path / "copy", list(history)))
    assert all(map(is_same, copied, history))
    assert copied.to_frame()["missing_before"].tolist() == [0, 0, 1]
    deltas.write_text(json.dumps({"meta": {"chain_id": 1}, "blocks": blocks[1:]}))
    with pytest.raises(BadMarketFile, match=r"blocks\.0\.block: is 8, which does not follow 5; use the deltas of this"):
        History.open(base, deltas=deltas)


@pytest.mark.shared_data
def test_recorded_deltas_are_a_history(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "markets" / "eth_fynd_24721174.json.gz"
    deltas = path.with_name("eth_fynd_24721174_block_deltas.json.gz")
    history = History.open(path, deltas=deltas)
    assert history.blocks == tuple(range(24721174, 24721182))
    copied = History.open(record(tmp_path / "copy", list(history)))
    assert all(map(is_same, copied, history))
    assert copied.to_frame()["changed"].sum() == history.to_frame()["changed"].sum() == 141
