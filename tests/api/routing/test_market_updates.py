"""A market that changes while the service runs: how a process keeps up with it."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from adapters.base import BadPayload, VenueUnavailable
from adapters.feed.feed import Feed
from adapters.feed.state import State
from api.services.market.market import MarketService, NoMarket
from api.services.market.source_problems import list_left_out
from api.services.market.supply import BoardSupply, FeedSupply
from tests.adapters_offline.sources import Gate, Told, failing
from tests.api.conftest import START
from tests.support.clock import SettableClock
from tests.support.memory_board import MemoryBoard

WAIT_S = 60.0
POOL, MOVED, OTHER = "x: A B 1000 1000 30bps", "x: A B 1000 2000 30bps", "y: A B 5 5 0bps"


def following(feed: Feed, clock: SettableClock) -> MarketService:
    return MarketService(lambda: FeedSupply(feed), clock)


def feed_of(clock: SettableClock, *adapters: Told) -> Feed:
    return Feed([adapter.source(10, 60) for adapter in adapters], clock=lambda: clock.now().timestamp())


def test_before_the_first_reading_has_ended_there_is_no_market(clock: SettableClock) -> None:
    gate = Gate(POOL)
    feed = feed_of(clock, Told("a", gate))
    market = following(feed, clock)
    with pytest.raises(NoMarket) as error:
        market.load()
    assert error.value.reason == "has not been read yet"
    gate.opened.set()
    assert feed.wait_idle(WAIT_S)
    assert set(market.snapshot.markets) == {"x"}


def test_a_new_router_replaces_the_old_one_and_an_unchanged_one_stays(clock: SettableClock) -> None:
    adapter = Told("a", POOL)
    feed = feed_of(clock, adapter)
    feed.read_all()
    market = following(feed, clock)
    first = market.router
    market.refresh()
    assert market.router is first
    adapter.gives = MOVED
    feed.read_all()
    assert market.router is first, "nothing changes until somebody looks"
    clock.advance(seconds=5)
    market.refresh()
    assert market.snapshot.id != first.snapshot.id
    assert market.updated_at == START + timedelta(seconds=5)


def test_a_source_in_trouble_degrades_and_then_its_markets_go(clock: SettableClock) -> None:
    good, bad = Told("good", POOL), Told("bad", OTHER)
    feed = feed_of(clock, good, bad)
    market = following(feed, clock)
    feed.read_all()
    market.refresh()
    assert not market.degraded
    bad.gives = failing(VenueUnavailable("away"))
    clock.advance(seconds=30)
    feed.read_all()
    market.refresh()
    assert market.degraded
    assert set(market.snapshot.markets) == {"x", "y"}
    clock.advance(seconds=30)
    market.refresh()
    assert set(market.snapshot.markets) == {"x"}


def test_once_everything_is_stale_there_is_no_market_any_more(clock: SettableClock) -> None:
    adapter = Told("a", POOL)
    feed = feed_of(clock, adapter)
    feed.read_all()
    market = following(feed, clock)
    market.load()
    adapter.gives = failing(VenueUnavailable("away"))
    clock.advance(seconds=61)
    with pytest.raises(NoMarket):
        market.refresh()
    with pytest.raises(NoMarket):
        market.load()


class SlowSupply:
    """A live supply whose second state takes until the gate is opened."""

    is_live = True

    def __init__(self, feed: Feed) -> None:
        self.feed, self.asked = feed, 0
        self.reached, self.opened, self.done = threading.Event(), threading.Event(), threading.Event()

    def read(self) -> State:
        return self.latest()

    def latest(self) -> State:
        self.asked += 1
        if self.asked == 2:
            self.reached.set()
            assert self.opened.wait(WAIT_S)
        if self.asked == 3:
            self.done.set()
        return self.feed.get_state()

    def close(self) -> None:
        self.feed.close()


def test_requests_go_on_while_a_new_market_is_made(clock: SettableClock) -> None:
    adapter = Told("a", POOL)
    feed = feed_of(clock, adapter)
    feed.read_all()
    supply = SlowSupply(feed)
    market = MarketService(lambda: supply, clock)
    market.follow()
    try:
        assert supply.reached.wait(WAIT_S)
        first = market.snapshot
        adapter.gives = MOVED
        feed.read_all()
        assert market.snapshot is first, "answered while the follower holds its lock"
        supply.opened.set()
        assert supply.done.wait(WAIT_S)
        assert market.snapshot.id != first.id
    finally:
        supply.opened.set()
        market.close()


def test_processes_agree_on_why_a_source_is_missing_after_a_worker_was_killed(clock: SettableClock) -> None:
    """The next worker has not read it yet: each process looks at the published market at a moment of its own."""
    board = MemoryBoard()
    first, second = BoardSupply(board, clock), BoardSupply(board, clock)
    whole = feed_of(clock, Told("a", POOL))
    whole.read_all()
    board.publish(whole.get_state())
    assert not first.latest().degraded
    anew = feed_of(clock, Told("a", POOL))  # of the worker that takes over
    told = []
    for supply in (first, second, first):
        clock.advance(seconds=7)
        board.publish(anew.get_state())
        told.append(list_left_out(supply.latest().sources))
    assert (
        told[0]
        == told[1]
        == told[2]
        == [{"protocol": "a", "reason": "STALE: it has not answered yet since 2026-03-01T12:00:00.000Z"}]
    )


class FailingBoard(MemoryBoard):
    """A board that cannot be read while it has an error."""

    error: Exception | None = None

    def read_latest(self) -> State:
        if self.error:
            raise self.error
        return super().read_latest()


@pytest.mark.parametrize("error", [VenueUnavailable("redis: ConnectionError"), BadPayload("head: is damaged")])
def test_while_nothing_is_published_what_is_known_is_used_until_it_is_stale(
    clock: SettableClock, error: Exception
) -> None:
    feed, board = feed_of(clock, Told("a", POOL)), FailingBoard()
    board.publish(feed.read_all())
    market = MarketService(lambda: BoardSupply(board, clock), clock)
    market.load()
    assert not market.degraded
    board.error = error
    clock.advance(seconds=30)
    market.refresh()
    assert set(market.snapshot.markets) == {"x"}
    (report,) = [source for source in market.sources if source.trouble]
    assert (report.name, report.reason, report.since) == ("published_market", str(error), clock.now().timestamp())
    clock.advance(seconds=31)
    with pytest.raises(NoMarket):
        market.refresh()
    board.error = None
    board.publish(feed.read_all())
    market.refresh()
    assert set(market.snapshot.markets) == {"x"}
