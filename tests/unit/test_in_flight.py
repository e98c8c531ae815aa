"""Nobody gets more threads than he leaves to others, whoever comes and goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.domain.env import EnvMode
from api.services.webhooks.in_flight import PER_SUBSCRIPTION, DueDelivery, Habits, InFlight, Waiting

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
THREADS = 16


def waiting(vendor: str, number: int = 0, **changes: Any) -> Waiting:
    plain = Waiting(
        subscription_id=f"{vendor}/{number}",
        vendor_id=vendor,
        env_mode=EnvMode.TEST,
        is_failing=False,
        is_gone=False,
        since=NOON,
    )
    return replace(plain, **changes)


def delivery(vendor: str, number: int = 0, order_id: str | None = None) -> DueDelivery:
    return DueDelivery(delivery_id="whd", vendor_id=vendor, subscription_id=f"{vendor}/{number}", order_id=order_id)


def fill(in_flight: InFlight, vendor: str, subscriptions: int = 32) -> int:
    """Let a vendor take what it can get; return how many that is."""
    before = in_flight.count
    for number in range(subscriptions):
        while in_flight.is_open(waiting(vendor, number)):
            assert in_flight.admit(delivery(vendor, number))
    return in_flight.count - before


def test_who_is_alone_gets_half_and_each_who_comes_half_of_the_rest() -> None:
    in_flight = InFlight(THREADS)
    assert [fill(in_flight, name) for name in "abcd"] == [8, 4, 2, 1]
    assert in_flight.free == 1
    assert fill(in_flight, "e") == 1, "the last one is for who has nothing"
    assert fill(in_flight, "f") == 0


def test_a_single_subscription_has_four_at_a_time_and_a_failing_one_a_single_one() -> None:
    assert fill(InFlight(THREADS), "a", subscriptions=1) == PER_SUBSCRIPTION
    in_flight = InFlight(THREADS)
    in_flight.enter(delivery("a"))
    assert in_flight.is_open(waiting("a"))
    assert not in_flight.is_open(waiting("a", is_failing=True))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_few_threads_are_enough_for_everybody_in_turn(threads: int) -> None:
    in_flight = InFlight(threads, habits=Habits(slow=frozenset({"a/0"})))
    assert in_flight.is_open(waiting("a"))
    assert fill(in_flight, "a") == -(-threads // 2)


def test_slow_ones_share_half_of_the_threads_in_the_same_way() -> None:
    slow = frozenset(f"{vendor}/{number}" for vendor in "abcde" for number in range(32))
    in_flight = InFlight(THREADS, habits=Habits(slow=slow))
    assert [fill(in_flight, name) for name in "abcde"] == [4, 2, 1, 1, 0]
    assert fill(in_flight, "quick") == 4, "half of the other half"
    assert fill(in_flight, "another") == 2


def test_a_vendors_slow_receivers_leave_room_for_its_quick_one() -> None:
    in_flight = InFlight(THREADS, habits=Habits(slow=frozenset(f"a/{number}" for number in range(31))))
    assert fill(in_flight, "a", subscriptions=31) == 4
    assert in_flight.is_open(waiting("a", 31))


def test_counts_follow_what_ends_and_what_turns_out_to_be_slow() -> None:
    in_flight = InFlight(THREADS)
    fill(in_flight, "a")
    assert not in_flight.is_open(waiting("a", 9))
    ended = [delivery("a", 0)] * 2
    less = in_flight.copy_without(ended)
    assert (in_flight.count, less.count) == (8, 6)
    assert less.is_open(waiting("a", 9))
    slow = less.copy_without((), habits=Habits(slow=frozenset({"a/0", "a/1", "b/0"})))
    assert not slow.is_open(waiting("a", 0)), "six of eight are taken"
    assert slow.is_open(waiting("b", 0))
    assert slow.is_open(waiting("a", 9))
    assert not slow.copy_without((), closing=frozenset({"a/9"})).copy_without(()).is_open(waiting("a", 9))


def test_events_of_one_order_follow_each_other() -> None:
    in_flight = InFlight(THREADS)
    assert in_flight.admit(delivery("a", 0, "po_1"))
    assert not in_flight.admit(delivery("a", 0, "po_1"))
    assert in_flight.admit(delivery("a", 1, "po_1"))
    assert in_flight.copy_without([delivery("a", 0, "po_1")]).admit(delivery("a", 0, "po_1"))


def test_who_took_less_time_comes_first_where_vendors_hold_all_threads() -> None:
    """Each has a backlog older than the victim's, who would have one turn of seventeen if these were counted."""
    thieves = [waiting(str(number)) for number in range(THREADS)]
    victim = waiting("victim", since=NOON + timedelta(hours=1))
    in_flight = InFlight(THREADS)
    for one in thieves:
        assert in_flight.is_open(one)
        in_flight.enter(delivery(one.vendor_id))
    assert not in_flight.is_open(victim)
    habits = Habits(spent={"7": 14.0, "3": 28.0, "victim": 0.05})
    in_flight = in_flight.copy_without([delivery("7"), delivery("3")], habits=habits)
    assert sorted([*thieves, victim], key=in_flight.rank)[:3] == [victim, thieves[7], thieves[3]]


def test_live_comes_before_test_and_who_has_less_before_who_waits_for_longer() -> None:
    in_flight = InFlight(THREADS)
    in_flight.enter(delivery("busy", 0))
    live = waiting("busy", 0, env_mode=EnvMode.LIVE)
    idle, late = waiting("idle", since=NOON), waiting("late", since=NOON + timedelta(seconds=1))
    busy, elsewhere = waiting("busy", 0, since=NOON - timedelta(hours=1)), waiting("busy", 1)
    assert sorted([busy, late, elsewhere, idle, live], key=in_flight.rank) == [live, idle, late, elsewhere, busy]


@given(st.integers(1, 24), st.integers(0, 2**32), st.integers(1, 6))
def test_a_vendor_with_nothing_under_way_gets_what_is_free_and_nobody_has_more_than_half(
    threads: int, seed: int, vendors: int
) -> None:
    rng, under_way = Random(seed), list[DueDelivery]()
    slow = frozenset(f"{vendor}/{number}" for vendor in range(vendors) for number in range(0, 9, 2))
    in_flight = InFlight(threads, habits=Habits(slow=slow))
    for _ in range(120):
        vendor, number = str(rng.randrange(vendors)), rng.randrange(9)
        if under_way and rng.random() < 0.3:
            one = under_way.pop(rng.randrange(len(under_way)))
            in_flight = in_flight.copy_without([one])
        elif in_flight.is_open(waiting(vendor, number)):
            under_way.append(delivery(vendor, number))
            assert in_flight.admit(under_way[-1])
        assert in_flight.count == len(under_way) <= threads
        assert in_flight.is_open(waiting("new")) == (len(under_way) < threads)
        most = max(1, -(-threads // 2))
        assert all(sum(one.vendor_id == name for one in under_way) <= most for name in map(str, range(vendors)))
        assert sum(one.subscription_id in slow for one in under_way) <= max(1, threads // 2)


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_up_to_four_vendors_never_take_all(seed: int, vendors: int) -> None:
    rng, under_way, in_flight = Random(seed), list[DueDelivery](), InFlight(THREADS)
    for _ in range(200):
        vendor, number = str(rng.randrange(vendors)), rng.randrange(32)
        if in_flight.is_open(waiting(vendor, number)):
            under_way.append(delivery(vendor, number))
            in_flight.enter(under_way[-1])
        elif under_way and rng.random() < 0.5:
            in_flight = in_flight.copy_without([under_way.pop(rng.randrange(len(under_way)))])
        assert in_flight.free >= 1
