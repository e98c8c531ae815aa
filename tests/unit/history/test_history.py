"""A recording gives back each block's market to the unit, whatever interrupts it, and says what is wrong with it."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from routing_engine import BadRecording, History, HistoryWriter, InvalidRequest, Router, RouteRequest, Snapshot, Token
from routing_engine.amm.concentrated.tick_math import tick_at_sqrt_ratio
from routing_engine.history.checkpoints import Checkpoints
from routing_engine.history.sources import RecordingFile, scan_recording
from routing_engine.market import Market
from routing_engine.markets import ConcentratedPool, ConstantProductPool

TOKENS = [Token(chain_id=1, address=f"0x{n + 1:040x}", symbol=f"T{n}", decimals=18) for n in range(4)]
FIRST = 1_000


def make_pool(number: int) -> Market:
    token0, token1 = TOKENS[number % 3 : number % 3 + 2]
    if number % 2:
        return ConcentratedPool(
            id=f"1:{number}", protocol="uniswap_v3", token0=token0, token1=token1, fee_pips=3000, tick_spacing=60,
            sqrt_price_x96=2**96, tick=0, liquidity=10**21, ticks=((-600, 10**21), (600, -(10**21))),
        )  # fmt: skip
    return ConstantProductPool(
        id=f"1:{number}", protocol="uniswap_v2", token0=token0, token1=token1, reserve0=10**21, reserve1=10**21,
        fee_pips=3000,
    )  # fmt: skip


def move(market: Market, rng: random.Random) -> Market:
    if isinstance(market, ConcentratedPool):
        price = 2**96 + rng.randrange(2**86)
        ticks = ((-600, 10**21), (60 * rng.randrange(1, 10), 5), (600, -(10**21) - 5))
        return replace(market, sqrt_price_x96=price, tick=tick_at_sqrt_ratio(price), ticks=ticks, liquidity=10**21)
    assert isinstance(market, ConstantProductPool)
    return replace(market, reserve0=market.reserve0 + rng.randrange(10**18))


def make_market(blocks: int, seed: int = 3) -> list[Snapshot]:
    """Return a market block by block: pools move, come and go."""
    rng = random.Random(seed)
    found = [Snapshot(map(make_pool, range(6)), gas_prices={1: 10**9}, blocks={1: FIRST})]
    for number in range(1, blocks):
        last = found[-1]
        changed = [move(market, rng) for market in rng.sample(list(last.markets.values()), 2)]
        added = [make_pool(100 + number)] if number % 7 == 0 else []
        gone = rng.sample(sorted(last.markets.keys() - {each.id for each in changed}), number % 9 == 0)
        found.append(
            last.apply(
                [*changed, *added], removed=gone, gas_prices={1: 10**9 + number}, blocks={1: FIRST + number},
                taken_at=f"2026-03-01T12:00:{number % 60:02}+00:00",
            )
        )  # fmt: skip
    return found


def record(path: Path, market: list[Snapshot]) -> Path:
    with HistoryWriter(path, 1) as writer:
        for snapshot in market:
            writer.append(snapshot)
    return path


def hash_of(number: int, fork: str = "a") -> str:
    return f"0x{fork}{number:063x}"


@pytest.fixture(scope="module")
def market() -> list[Snapshot]:
    return make_market(120)


@pytest.fixture(scope="module")
def recorded(market: list[Snapshot], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("history") / "pools.recording", market)


def is_same(one: Snapshot, other: Snapshot) -> bool:
    """Tell whether all is equal, the order of markets too: routes depend on it."""
    fields = "id", "gas_prices", "blocks", "taken_at"
    is_same_moment = all(getattr(one, name) == getattr(other, name) for name in fields)
    return is_same_moment and list(one.markets.items()) == list(other.markets.items())


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


def test_what_a_reorganisation_replaced_is_told_and_left_out(market: list[Snapshot], tmp_path: Path) -> None:
    """Blocks 3 and 4 are replaced by others; later everything is."""
    path = tmp_path / "reorganised"
    with HistoryWriter(path, 1) as writer:
        for number in range(5):
            writer.append(market[number], block_hash=hash_of(number), parent=hash_of(number - 1))
        other = market[4].apply([move(market[4].markets["1:0"], random.Random(9))], blocks={1: FIRST + 3})
        writer.append(other, block_hash=hash_of(3, "b"), parent=hash_of(2), follows=hash_of(2))
        assert [block.number for block in writer.blocks] == [FIRST, FIRST + 1, FIRST + 2, FIRST + 3]
        writer.append(market[5], block_hash=hash_of(5, "b"), parent=hash_of(4, "b"))
    history = History.open(path)
    assert history.blocks == (FIRST, FIRST + 1, FIRST + 2, FIRST + 3, FIRST + 5)
    assert is_same(history.at(FIRST + 3), other)
    assert is_same(history.at(FIRST + 5), market[5])
    (told,) = history.reorganisations
    assert [block.block_hash for block in told.abandoned] == [hash_of(3), hash_of(4)]
    assert told.by.block_hash == hash_of(3, "b")
    assert history.gaps == ((FIRST + 4, FIRST + 4),)
    assert repr(history) == (
        "History(5 blocks 1,000 to 1,005 of chain 1; 1 not recorded between; 1 reorganisations)"
    )  # fmt: skip
    with HistoryWriter(path, 1) as writer:
        writer.append(market[6], block_hash=hash_of(6, "c"), parent=hash_of(5, "c"), follows=hash_of(5, "c"))
    history = History.open(path)
    assert history.blocks == (FIRST + 6,), "nothing that was recorded is part of the chain any more"
    assert is_same(history[0], market[6])
    assert [len(each.abandoned) for each in history.reorganisations] == [2, 5]


def test_where_hashes_are_not_known_numbers_say_what_replaces_what(market: list[Snapshot], tmp_path: Path) -> None:
    again = market[3].apply([move(market[3].markets["1:0"], random.Random(9))])
    path = record(tmp_path / "numbers", [*market[:5], again])
    history = History.open(path)
    assert history.blocks == tuple(FIRST + n for n in range(4))
    assert is_same(history[-1], again)


def test_a_write_that_was_cut_off_anywhere_costs_that_block_only(market: list[Snapshot], tmp_path: Path) -> None:
    path = record(tmp_path / "cut", market[:4])
    whole = path.read_bytes()
    before = record(tmp_path / "before", market[:3]).stat().st_size
    for length in [*range(before + 1, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:length])
        history = History.open(path)
        assert (len(history), history.cut_off) == (3, length - before)
        assert f"the last {length - before:,} bytes of the file are cut off" in repr(history)
        with HistoryWriter(path, 1) as writer:
            assert writer.cut_off == length - before
            writer.append(market[3])
        assert path.read_bytes() == whole
    path.write_bytes(whole[:before] + bytes(500))
    assert (len(History.open(path)), History.open(path).cut_off) == (3, 500)
    path.write_bytes(whole[:-20] + bytes(20))
    assert len(History.open(path)) == 3, "of the right length, and without its end"


def test_an_interrupted_append_leaves_nothing(market: list[Snapshot], tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "interrupted"
    with HistoryWriter(path, 1) as writer:
        writer.append(market[0])
        before = path.read_bytes()

        def refuse(_: int) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", refuse)
            with pytest.raises(KeyboardInterrupt):
                writer.append(market[1])
        assert path.read_bytes() == before
        writer.append(market[1])
    assert all(map(is_same, History.open(path), market[:2]))


@pytest.mark.parametrize("place", [0.3, 0.5, 0.7])
def test_damage_before_the_end_is_named(market: list[Snapshot], tmp_path: Path, place: float) -> None:
    path = record(tmp_path / "damaged", market[:30])
    data = bytearray(path.read_bytes())
    for byte in range(int(len(data) * place), int(len(data) * place) + 8):
        data[byte] ^= 0x55
    path.write_bytes(data)

    def read_each() -> None:
        for number in range(30):
            History.open(path).at(FIRST + number)

    with pytest.raises(BadRecording, match="byte"):
        read_each()


def test_a_length_that_is_damaged_is_not_taken_for_the_end(market: list[Snapshot], tmp_path: Path) -> None:
    """Or else going on would cut off all that comes after it."""
    path = record(tmp_path / "damaged", market[:9])
    offset = [member.offset for member in scan_recording(path).steps][4]
    data = bytearray(path.read_bytes())
    data[offset + 20] = 0xFF
    path.write_bytes(data)
    with pytest.raises(BadRecording, match=f"byte {offset}: is damaged"):
        HistoryWriter(path, 1)
    assert path.read_bytes() == data


def test_a_market_that_is_not_the_recorded_one_is_refused(
    market: list[Snapshot], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where another version of the library hashes otherwise."""
    real = Snapshot.id
    path = tmp_path / "other"
    with HistoryWriter(path, 1) as writer:
        writer.append(market[0])
        monkeypatch.setattr(Snapshot, "id", property(lambda _: "0" * 32))
        writer.append(market[1])
        monkeypatch.setattr(Snapshot, "id", real)
    history = History.open(path)
    assert is_same(history[0], market[0])
    with pytest.raises(BadRecording, match=f"block {FIRST + 1}: gives the market {market[1].id}"):
        history[1]


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: None, "cannot be read"),
        (lambda path: path.write_bytes(b""), "holds no whole block"),
        (lambda path: path.write_text("nothing of the kind, but long enough to be one"), "this is no recording"),
        (lambda path: path.write_bytes(gzip.compress(b"{}" * 90, mtime=0)), "this is no recording"),
    ],
)
def test_what_is_no_recording_is_told(make: Callable[[Path], object], told: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    make(path)
    with pytest.raises(BadRecording, match=told):
        History.open(path)


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


@pytest.mark.shared_data
def test_recorded_deltas_are_a_history(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "markets" / "eth_fynd_24721174.json.gz"
    deltas = path.with_name("eth_fynd_24721174_block_deltas.json.gz")
    history = History.open(path, deltas=deltas)
    assert history.blocks == tuple(range(24721174, 24721182))
    copied = History.open(record(tmp_path / "copy", list(history)))
    assert all(map(is_same, copied, history))
    assert copied.to_frame()["changed"].sum() == history.to_frame()["changed"].sum() == 141
