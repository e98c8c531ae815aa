"""The feed: isolation, schedule, ages, and sources that would spoil what others gave."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.base import BadPayload, VenueUnavailable
from adapters.feed.feed import Feed
from routing_engine.formats import Contents
from routing_engine.markets import ConstantProductPool
from routing_engine.reference import token_registry
from tests.adapters_offline.sources import Clock, Gate, Told, failing
from tests.support.markets import market_of, token

WAIT_S = 60.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


def run(feed: Feed) -> None:
    feed.start_due()
    assert feed.wait_idle(WAIT_S)


def troubles(feed: Feed) -> dict[str, str]:
    return {source.name: source.trouble for source in feed.get_state().missing}


def test_what_all_give_is_one_snapshot(clock: Clock) -> None:
    feed = Feed([Told("a", "x: A B 1 1 0bps", gas={1: 7}).source(), Told("b", "y: A B 2 2 0bps").source()], clock=clock)
    assert troubles(feed) == {"a": "pending", "b": "pending"}
    run(feed)
    state = feed.get_state()
    assert set(state.snapshot.markets) == {"x", "y"}
    assert state.owners == {"x": "a", "y": "b"}
    assert state.snapshot.gas_prices == {1: 7}
    assert state.snapshot.taken_at == "2026-03-01T12:00:00+00:00"
    assert not state.degraded


def test_each_source_has_its_interval(clock: Clock) -> None:
    quick, slow = Told("quick", "x: A B 1 1 0bps"), Told("slow", "y: A B 1 1 0bps")
    feed = Feed([quick.source(10, 60), slow.source(30, 60)], clock=clock)
    counts = []
    for _ in range(7):
        run(feed)
        counts.append((quick.fetched, slow.fetched))
        clock.now += 5
    assert counts == [(1, 1), (1, 1), (2, 1), (2, 1), (3, 1), (3, 1), (4, 2)]


def test_a_hanging_source_keeps_nobody_waiting(clock: Clock) -> None:
    gate = Gate("x: A B 1 1 0bps")
    hanging, other = Told("hanging", gate), Told("other", "y: A B 1 1 0bps")
    feed = Feed([hanging.source(), other.source()], clock=clock)
    for _ in range(5):
        feed.start_due()
        assert gate.reached.wait(WAIT_S)
        assert feed.wait_idle(WAIT_S, "other")
        assert set(feed.get_state().snapshot.markets) == {"y"}
        clock.now += 10
    assert other.fetched == 5
    assert hanging.fetched == 1, "it is not asked again while it hangs"
    assert troubles(feed) == {"hanging": "hangs"}
    gate.opened.set()
    assert feed.wait_idle(WAIT_S)
    assert set(feed.get_state().snapshot.markets) == {"x", "y"}, "what comes late is taken"
    assert troubles(feed) == {}


def test_a_failing_source_is_used_until_it_is_stale_and_then_left_out(clock: Clock) -> None:
    broken, other = Told("broken", "x: A B 1 1 0bps", gas={1: 7}), Told("other", "y: A B 1 1 0bps")
    feed = Feed([broken.source(10, 60), other.source(10, 60)], clock=clock)
    run(feed)
    broken.gives = failing(VenueUnavailable("broken.test: status 503"))
    clock.now += 59
    run(feed)
    assert set(feed.get_state().snapshot.markets) == {"x", "y"}
    (report,) = feed.get_state().missing
    assert (report.name, report.trouble, report.reason) == ("broken", "venue_unavailable", "broken.test: status 503")
    assert report.since == clock.now
    since = clock.now
    clock.now += 1
    state = feed.get_state()
    assert set(state.snapshot.markets) == {"y"}
    assert state.owners == {"y": "other"}
    assert state.snapshot.gas_prices == {}
    assert state.missing[0].since == since, "it is in trouble since the first failure"
    broken.gives = "x: A B 5 5 0bps"
    clock.now += 10
    run(feed)
    assert set(feed.get_state().snapshot.markets) == {"x", "y"}
    assert feed.get_state().snapshot.gas_prices == {1: 7}
    assert troubles(feed) == {}


def test_age_counts_from_the_start_of_a_reading(clock: Clock) -> None:
    def slow() -> str:
        clock.now += 50
        return "x: A B 1 1 0bps"

    feed = Feed([Told("slow", slow).source(10, 60)], clock=clock)
    run(feed)
    assert set(feed.get_state().snapshot.markets) == {"x"}
    clock.now += 10
    assert troubles(feed) == {"slow": "stale"}
    assert not feed.get_state().snapshot.markets


def test_a_crash_is_a_failure_of_its_source_only(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    feed = Feed([Told("buggy", failing(TypeError("x"))).source(), Told("b", "y: A B 1 1 0bps").source()], clock=clock)
    run(feed)
    assert troubles(feed) == {"buggy": "crashed"}
    assert feed.get_state().missing[0].reason == "crashed: TypeError"
    assert set(feed.get_state().snapshot.markets) == {"y"}
    assert "adapter buggy crashed" in caplog.text


def test_after_a_failure_it_is_read_again_soon_but_not_before_it_asked(clock: Clock) -> None:
    source = Told("a", failing(VenueUnavailable("busy", retry_after_s=100)))
    feed = Feed([source.source(3600, 7200)], clock=clock)
    run(feed)
    clock.now += 99
    run(feed)
    assert source.fetched == 1
    clock.now += 1
    source.gives = failing(VenueUnavailable("down"))
    run(feed)
    clock.now += 15
    run(feed)
    assert source.fetched == 3


def test_nobody_can_ask_for_a_year_of_rest(clock: Clock) -> None:
    source = Told("a", failing(VenueUnavailable("busy", retry_after_s=10**8)))
    feed = Feed([source.source(10, 60)], clock=clock)
    run(feed)
    clock.now += 3600
    run(feed)
    assert source.fetched == 2


def test_a_closed_feed_takes_and_starts_nothing(clock: Clock) -> None:
    gate = Gate("x: A B 1 1 0bps")
    source = Told("a", gate)
    feed = Feed([source.source()], clock=clock)
    feed.start_due()
    feed.close()
    gate.opened.set()
    assert feed.wait_idle(WAIT_S)
    assert not feed.get_state().snapshot.markets
    clock.now += 100
    run(feed)
    assert source.fetched == 1


def test_markets_that_are_not_given_again_are_gone_and_others_stay_the_same_objects(clock: Clock) -> None:
    adapter = Told("a", "x: A B 1 1 0bps\ny: A B 2 2 0bps")
    feed = Feed([adapter.source()], clock=clock)
    run(feed)
    before = feed.get_state().snapshot
    adapter.gives = "y: A B 2 2 0bps\nz: A B 3 3 0bps"
    clock.now += 10
    run(feed)
    after = feed.get_state().snapshot
    assert set(after.markets) == {"y", "z"}
    assert after.markets["y"] is before.markets["y"]


def test_two_sources_need_two_names() -> None:
    with pytest.raises(ValueError, match="share a name"):
        Feed([Told("a").source(), Told("a").source()])


def test_a_reason_is_short_and_printable(clock: Clock) -> None:
    feed = Feed([Told("a", failing(BadPayload("x\n\x00" + "y" * 10_000))).source()], clock=clock)
    run(feed)
    (report,) = feed.get_state().missing
    assert report.reason.isprintable()
    assert len(report.reason) == 500


class Liar(Told):
    """Gives what it is told to, whatever that is."""

    def __init__(self, contents: Contents) -> None:
        super().__init__("liar")
        self.contents = contents

    def parse(self, payload: str) -> Contents:
        return self.contents


POOL = market_of("x: A B 1000 1000 0bps")[0]
USDC = token_registry.token("USDC", 1)


def pool(**changes: object) -> ConstantProductPool:
    made = ConstantProductPool(
        id="lie", protocol="lie", token0=token("A"), token1=token("C"), reserve0=10**18, reserve1=10**18, fee_pips=0
    )
    return replace(made, **changes)


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        (Contents(markets=(pool(id="x"),)), "gives market x, which belongs to honest"),
        (Contents(markets=(pool(), pool(reserve0=5))), "two markets with one id"),
        (Contents(markets=(pool(token0=token("A", decimals=6)),)), "6 decimals; honest says 18"),
        (Contents(markets=(pool(token0=replace(USDC, decimals=18)),)), "18 decimals; the registry says 6"),
        (
            Contents(markets=(pool(), pool(id="lie2", token1=token("C", decimals=2)))),
            "2 decimals; liar says 18",
        ),
        (Contents(markets=(), gas_prices={1: 9}), "gas price of chain 1, which comes from honest"),
        (Contents(markets=(), gas_prices={10: -1}), "gas price of chain 10 must be"),
        (Contents(markets=(), gas_prices={10: 10**16}), "gas price of chain 10 must be"),
        (Contents(markets=(), blocks={10: -5}), "block of chain 10 must be"),
        (Contents(markets=(), refused={f"r{number}": 1 for number in range(1001)}), "1001 reasons"),
        (Contents(markets=(), refused={"a\nb": 1}), "is no reason"),
        (Contents(markets=(), refused={"a" * 201: 1}), "is no reason"),
        (Contents(markets=(), refused={"a": -1}), "is no reason"),
    ],
)
def test_a_lying_source_changes_nothing_of_the_others(clock: Clock, lie: Contents, reason: str) -> None:
    feed = Feed([Told("honest", "x: A B 1000 1000 0bps", gas={1: 7}).source()], clock=clock)
    alone = feed.read_all().snapshot
    both = Feed([Told("honest", "x: A B 1000 1000 0bps", gas={1: 7}).source(), Liar(lie).source()], clock=clock)
    state = both.read_all()
    assert state.snapshot.id == alone.id
    assert state.snapshot.markets == {"x": POOL}
    (report,) = state.missing
    assert (report.name, report.trouble) == ("liar", "bad_payload")
    assert reason in report.reason


def test_protocols_that_a_source_could_not_read_are_told_and_the_others_used(clock: Clock) -> None:
    adapter = Liar(Contents(markets=(pool(),), refused={"curve:unavailable": 1, "x:price_off": 2}))
    feed = Feed([adapter.source()], clock=clock)
    feed.read_all()
    since = clock.now
    clock.now += 20
    state = feed.read_all()
    (report,) = state.missing
    assert state.snapshot.markets == {"lie": pool()}
    assert (report.trouble, report.reason, report.since) == ("incomplete", "cannot read curve", since)
    assert (report.missing, report.is_left_out) == (("curve",), False)
    adapter.contents = Contents(markets=(pool(),), refused={"x:price_off": 1})
    state = feed.read_all()
    assert not state.degraded
    assert state.sources[0].refused == {"x:price_off": 1}


def test_a_lie_told_after_the_truth_leaves_the_truth(clock: Clock) -> None:
    adapter = Liar(Contents(markets=(pool(),)))
    feed = Feed([adapter.source()], clock=clock)
    feed.read_all()
    adapter.contents = Contents(markets=(pool(reserve0=2, token0=replace(USDC, decimals=7)),))
    state = feed.read_all()
    assert state.snapshot.markets == {"lie": pool()}
    assert state.degraded
