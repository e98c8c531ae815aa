"""A recording that was cut off, replaced or damaged: what is left of it, and what is said."""

from __future__ import annotations

import gzip
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from routing_engine import BadRecording, History, HistoryWriter, Snapshot
from routing_engine.history.members import pack_member, read_member, scan_members
from routing_engine.history.sources import scan_recording
from tests.support.recordings import FIRST, hash_of, is_same, move, record


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


def test_a_number_longer_than_python_reads_is_told_in_our_words(tmp_path: Path) -> None:
    path = tmp_path / "long"
    most = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        path.write_bytes(pack_member({"block": 1}, {"reserve": 10**5000}))
    finally:
        sys.set_int_max_str_digits(most)
    with path.open("rb") as file:
        (member,) = scan_members(file, path)
        with pytest.raises(BadRecording, match="is damaged: it has a number of 5,001 digits at character"):
            read_member(file, member, path)
