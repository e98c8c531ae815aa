"""The circuit breaker: when it opens, who may probe, what counts."""

from __future__ import annotations

import threading

import pytest

from adapters.base import BadPayload, Declined, VenueUnavailable
from adapters.http.circuit_breaker import LONGEST_WISH_S, Breaker, BreakerOpen, Breakers, BreakerState
from adapters.rpc.endpoint import AWAY_S, make_breaker


class Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker("venue.test", failures=3, cooldown_s=10, max_cooldown_s=35, clock=clock)


def fail(breaker: Breaker, retry_after_s: float | None = None) -> None:
    with pytest.raises(VenueUnavailable, match="no answer"), breaker.attempt():
        raise VenueUnavailable("no answer", retry_after_s=retry_after_s)


def answer(breaker: Breaker) -> None:
    with breaker.attempt():
        pass


def refused(breaker: Breaker) -> BreakerOpen:
    with pytest.raises(BreakerOpen) as error, breaker.attempt():
        pytest.fail("an open breaker let a question through")
    return error.value


def test_it_opens_after_so_many_failures_in_a_row(breaker: Breaker) -> None:
    fail(breaker)
    fail(breaker)
    answer(breaker)
    fail(breaker)
    fail(breaker)
    assert breaker.state is BreakerState.CLOSED
    fail(breaker)
    assert breaker.state is BreakerState.OPEN
    assert refused(breaker).retry_after_s == 10


def test_a_successful_probe_closes_it(breaker: Breaker, clock: Clock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.now += 10
    assert breaker.state is BreakerState.HALF_OPEN
    answer(breaker)
    assert breaker.state is BreakerState.CLOSED
    fail(breaker)
    assert breaker.state is BreakerState.CLOSED, "the count starts anew"


def test_each_failed_probe_doubles_the_time_up_to_the_bound(breaker: Breaker, clock: Clock) -> None:
    for _ in range(3):
        fail(breaker)
    for expected in (20, 35, 35):
        clock.now += refused(breaker).retry_after_s or 0
        fail(breaker)
        assert refused(breaker).retry_after_s == expected
    clock.now += 35
    answer(breaker)
    for _ in range(3):
        fail(breaker)
    assert refused(breaker).retry_after_s == 10, "after a success the first time holds again"


def test_one_probe_at_a_time(breaker: Breaker, clock: Clock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.now += 10
    with breaker.attempt():
        assert breaker.state is BreakerState.HALF_OPEN
        assert "another caller" in str(refused(breaker))
    answer(breaker)


def test_of_many_threads_exactly_one_probes(breaker: Breaker, clock: Clock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.now += 10
    start, everybody_tried = threading.Barrier(16), threading.Barrier(16)
    admitted: list[int] = []

    def call(number: int) -> None:
        start.wait()
        try:
            with breaker.attempt():
                admitted.append(number)
                everybody_tried.wait()
        except BreakerOpen:
            everybody_tried.wait()

    threads = [threading.Thread(target=call, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(admitted) == 1
    assert breaker.state is BreakerState.CLOSED


def test_questions_are_not_serialised_while_it_is_closed(breaker: Breaker) -> None:
    inside = threading.Barrier(4, timeout=20)

    def call() -> None:
        with breaker.attempt():
            inside.wait()

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not inside.broken


def test_a_late_failure_from_before_does_not_open_it_again(breaker: Breaker, clock: Clock) -> None:
    early = breaker.attempt()
    early.__enter__()
    for _ in range(3):
        fail(breaker)
    clock.now += 10
    answer(breaker)
    fail(breaker)
    fail(breaker)
    late = VenueUnavailable("late")
    assert not early.__exit__(VenueUnavailable, late, None)
    assert breaker.state is BreakerState.CLOSED


def test_a_late_answer_from_before_does_not_close_it(breaker: Breaker) -> None:
    with breaker.attempt():
        for _ in range(3):
            fail(breaker)
    assert breaker.state is BreakerState.OPEN


def test_a_probe_that_ends_without_a_verdict_makes_way_for_the_next(breaker: Breaker, clock: Clock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.now += 10
    with pytest.raises(KeyboardInterrupt), breaker.attempt():
        raise KeyboardInterrupt
    answer(breaker)
    assert breaker.state is BreakerState.CLOSED


@pytest.mark.parametrize("error", [BadPayload("nonsense"), Declined("no", status=400)])
def test_a_host_that_answers_nonsense_is_up(breaker: Breaker, error: Exception) -> None:
    fail(breaker)
    fail(breaker)
    with pytest.raises(type(error)), breaker.attempt():
        raise error
    fail(breaker)
    assert breaker.state is BreakerState.CLOSED


def test_a_host_that_asks_for_time_gets_it(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, retry_after_s=4)
    assert refused(breaker).retry_after_s == 4
    clock.now += 4
    answer(breaker)
    fail(breaker, retry_after_s=10**9)
    assert refused(breaker).retry_after_s == LONGEST_WISH_S, "nobody can make us wait for ever"


def test_breakers_are_kept_by_host(clock: Clock) -> None:
    breakers = Breakers(lambda host: Breaker(host, failures=1, clock=clock))
    fail(breakers.find("a.test"))
    answer(breakers.find("b.test"))
    assert breakers.list_states() == {"a.test": BreakerState.OPEN, "b.test": BreakerState.CLOSED}


def test_an_endpoint_of_a_chain_is_asked_again_soon_however_long_it_was_away(clock: Clock) -> None:
    """Payments were seen two minutes after a chain was back: it was asked every few minutes only."""
    breaker, waits = make_breaker("node.test", clock), []
    for _ in range(30):
        fail(breaker)
        if breaker.state is BreakerState.OPEN:
            waits.append(refused(breaker).retry_after_s)
            clock.now += waits[-1] or 0.0
    assert len(waits) > 20
    assert max(waits) == AWAY_S
    fail(breaker, retry_after_s=60)
    assert refused(breaker).retry_after_s == 60
