"""States that go from process to process, in memory and through a real Redis."""

from __future__ import annotations

import random
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import replace
from math import inf

import pytest
from redis import Redis

from adapters.base import BadPayload, VenueUnavailable
from adapters.feed.board import MAX_DELTAS, RedisBoard
from adapters.feed.codec import (
    MAGIC,
    BoardHead,
    pack_delta,
    pack_head,
    pack_whole,
    unpack_delta,
    unpack_head,
    unpack_whole,
)
from adapters.feed.state import SourceReport, State
from routing_engine import Snapshot
from routing_engine.market import Market
from tests.support.markets import market_of
from tests.support.memory_board import MemoryBoard
from tests.support.redis_server import redis_server

SOURCES = (
    SourceReport(name="a", expires_at=2e9, readings=3, seconds=0.25, gas_chains=(1, 10), refused={"x:y": 3}),
    SourceReport(name="b", expires_at=inf, trouble="bad_payload", reason="x must be y", since=1.5e9, failures=1),
)


def state_of(text: str, gas: dict[int, int] | None = None, owner: str = "a") -> State:
    markets = market_of(text)
    snapshot = Snapshot(markets, gas_prices=gas or {1: 7}, blocks={1: 100}, taken_at="2026-03-01T12:00:00+00:00")
    return State(snapshot=snapshot, owners=dict.fromkeys(snapshot.markets, owner), sources=SOURCES)


ONE = state_of("x: A B 1 1 0bps\ny: A B 2 2 30bps\nz: A@1 > A@10 fee=3 10bps 60s")
TWO = replace(
    state_of("x: A B 9 9 0bps\nz: A@1 > A@10 fee=3 10bps 60s\nw: B C 4 4 5bps", gas={10: 5}),
    owners={"x": "a", "z": "b", "w": "a"},
)


def describe(state: State) -> dict[str, object]:
    """Return what of a state goes to other processes, but for its sources, which the head has."""
    snapshot = state.snapshot
    return {
        "id": snapshot.id,
        "markets": snapshot.markets,
        "gas_prices": snapshot.gas_prices,
        "taken_at": snapshot.taken_at,
        "owners": state.owners,
    }


def test_a_whole_comes_back_as_it_was() -> None:
    assert describe(unpack_whole(pack_whole(ONE))) == describe(ONE)


def test_a_change_leads_from_one_state_to_the_other() -> None:
    assert describe(unpack_delta(pack_delta(TWO, ONE), ONE)) == describe(TWO)
    assert describe(unpack_delta(pack_delta(TWO, ONE), unpack_whole(pack_whole(ONE)))) == describe(TWO)


def test_a_change_holds_only_what_changed() -> None:
    many = state_of("\n".join(f"m{number}: A B {number + 1} 1 0bps" for number in range(500)))
    moved = many.snapshot.apply(market_of("m7: A B 5 5 0bps"))
    delta = pack_delta(replace(many, snapshot=moved), many)
    assert len(delta) < 1000 < len(pack_whole(many))


def test_a_change_of_another_state_is_refused() -> None:
    with pytest.raises(BadPayload, match=f"begins at {ONE.snapshot.id}"):
        unpack_delta(pack_delta(TWO, ONE), TWO)


def test_the_head_comes_back_as_it_was() -> None:
    head = BoardHead(number=9, base=3, snapshot_id="ab", sources=SOURCES)
    read = unpack_head(pack_head(head))
    assert read.sources[0] == SOURCES[0]
    assert read.sources[1] == replace(SOURCES[1], expires_at=1e11), "for ever is far in the future"


def test_no_damaged_byte_passes() -> None:
    sealed, rng = pack_whole(ONE), random.Random(1)
    for position in [*range(len(MAGIC) + 20), *(rng.randrange(len(sealed)) for _ in range(100))]:
        damaged = bytearray(sealed)
        damaged[position] ^= 1 << rng.randrange(8)
        with pytest.raises(BadPayload):
            unpack_whole(bytes(damaged))
    for length in (0, 1, len(MAGIC), len(MAGIC) + 16, len(sealed) - 1):
        with pytest.raises(BadPayload):
            unpack_whole(sealed[:length])


def test_another_version_is_refused_and_says_so() -> None:
    newer = MAGIC[:-1] + bytes([MAGIC[-1] + 1])
    with pytest.raises(BadPayload, match="is not of this version"):
        unpack_whole(pack_whole(ONE).replace(MAGIC, newer, 1))


def test_content_that_is_not_what_it_says_is_refused() -> None:
    class Lying(Snapshot):
        id = "0" * 32

    lying = replace(ONE, snapshot=Lying(ONE.snapshot.markets.values(), gas_prices={1: 7}))
    with pytest.raises(BadPayload, match="its content has the id"):
        unpack_whole(pack_whole(lying))


@pytest.mark.parametrize("text", [b"[]", b"{}", b'{"to": 5}', b"\xff", b"[" * 10_000])
def test_what_is_no_state_is_refused(text: bytes) -> None:
    import hashlib

    body = zlib.compress(text)
    with pytest.raises(BadPayload):
        unpack_whole(MAGIC + hashlib.blake2b(body, digest_size=16).digest() + body)


def test_in_memory_the_same_object_is_handed_on() -> None:
    board = MemoryBoard()
    with pytest.raises(VenueUnavailable, match="published yet"):
        board.read_latest()
    board.publish(ONE)
    assert board.read_latest() is ONE


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with redis_server() as running:
        yield running


@pytest.fixture
def client(server: tuple[str, subprocess.Popen[bytes]]) -> Iterator[Redis]:
    with Redis.from_url(server[0]) as client:
        client.flushall()
        yield client


def test_through_redis(client: Redis) -> None:
    writer, reader = RedisBoard(client), RedisBoard(client)
    with pytest.raises(VenueUnavailable, match="published yet"):
        reader.read_latest()
    writer.publish(ONE)
    assert describe(reader.read_latest()) == describe(ONE)
    writer.publish(TWO)
    read = reader.read_latest()
    assert describe(read) == describe(TWO)
    assert [source.reason for source in read.sources] == ["", "x must be y"]
    newcomer = RedisBoard(client)
    assert describe(newcomer.read_latest()) == describe(TWO)


def test_an_unchanged_market_keeps_its_objects(client: Redis) -> None:
    writer, reader = RedisBoard(client), RedisBoard(client)
    writer.publish(ONE)
    first = reader.read_latest()
    writer.publish(replace(ONE, sources=SOURCES[:1]))
    second = reader.read_latest()
    assert second.snapshot is first.snapshot
    assert len(second.sources) == 1
    writer.publish(replace(ONE, snapshot=ONE.snapshot.apply(market_of("x: A B 9 9 0bps"))))
    third = reader.read_latest()
    assert third.snapshot.markets["x"] != first.snapshot.markets["x"]
    assert third.snapshot.markets["z"] is first.snapshot.markets["z"]


def test_a_reader_that_was_away_catches_up_and_the_whole_is_written_anew(client: Redis) -> None:
    writer, quick, slow = RedisBoard(client), RedisBoard(client), RedisBoard(client)
    writer.publish(ONE)
    slow.read_latest()
    states = []
    for number in range(MAX_DELTAS + 5):
        states.append(state_of(f"x: A B {number + 1} 7 0bps"))
        writer.publish(states[-1])
        if number % 3 == 0:
            assert describe(quick.read_latest()) == describe(states[-1])
    assert describe(slow.read_latest()) == describe(states[-1])
    assert describe(RedisBoard(client).read_latest()) == describe(states[-1])
    assert client.llen("market:deltas") < MAX_DELTAS


def test_a_writer_that_takes_over_writes_the_whole(client: Redis) -> None:
    first, reader = RedisBoard(client), RedisBoard(client)
    first.publish(ONE)
    reader.read_latest()
    RedisBoard(client).publish(TWO)
    assert describe(reader.read_latest()) == describe(TWO)
    first.publish(ONE)
    assert describe(reader.read_latest()) == describe(ONE)


def test_a_lost_redis_heals(client: Redis) -> None:
    writer, reader = RedisBoard(client), RedisBoard(client)
    writer.publish(ONE)
    reader.read_latest()
    client.flushall()
    with pytest.raises(VenueUnavailable, match="published yet"):
        reader.read_latest()
    writer.publish(TWO)
    assert describe(reader.read_latest()) == describe(TWO)


@pytest.mark.parametrize("key", ["market:head", "market:whole"])
def test_what_is_damaged_in_redis_is_refused_until_it_is_written_again(client: Redis, key: str) -> None:
    writer = RedisBoard(client)
    writer.publish(ONE)
    sealed = bytearray(client.get(key))  # type: ignore[arg-type]  # bytes here
    sealed[-1] ^= 1
    client.set(key, bytes(sealed))
    with pytest.raises(BadPayload):
        RedisBoard(client).read_latest()
    RedisBoard(client).publish(ONE)
    assert describe(RedisBoard(client).read_latest()) == describe(ONE)


def test_a_damaged_change_is_refused_by_newcomers_and_by_those_who_follow(client: Redis) -> None:
    writer, reader = RedisBoard(client), RedisBoard(client)
    writer.publish(ONE)
    reader.read_latest()
    writer.publish(TWO)
    client.lset("market:deltas", 0, b"nonsense")
    for board in (reader, RedisBoard(client)):
        with pytest.raises(BadPayload):
            board.read_latest()


def test_boards_of_two_names_do_not_meet(client: Redis) -> None:
    RedisBoard(client, "a").publish(ONE)
    with pytest.raises(VenueUnavailable):
        RedisBoard(client, "b").read_latest()


def test_a_redis_that_is_away_is_unavailable() -> None:
    with redis_server() as (url, process):
        client = Redis.from_url(url)
        board = RedisBoard(client)
        board.publish(ONE)
        process.kill()
        process.wait()
        with pytest.raises(VenueUnavailable, match="redis"):
            board.read_latest()
        with pytest.raises(VenueUnavailable, match="redis"):
            board.publish(TWO)
        client.close()


def test_random_changes_arrive_exactly(client: Redis) -> None:
    rng = random.Random(7)
    writer, reader = RedisBoard(client), RedisBoard(client)
    markets: dict[str, Market] = {}
    snapshot = Snapshot(())
    for _ in range(60):
        name = f"m{rng.randrange(12)}"
        if name in markets and rng.random() < 0.4:
            del markets[name]
            snapshot = snapshot.apply(removed=[name])
        else:
            (markets[name],) = market_of(f"{name}: A B {rng.randrange(1, 99)} 5 0bps")
            snapshot = snapshot.apply([markets[name]])
        writer.publish(State(snapshot=snapshot, owners=dict.fromkeys(markets, "a"), sources=SOURCES))
        if rng.random() < 0.5:
            read = reader.read_latest()
            assert read.snapshot.markets == markets
            assert read.snapshot.id == snapshot.id
