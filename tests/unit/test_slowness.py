"""Who takes long is known while it does, and for a while after."""

from __future__ import annotations

from api.services.webhooks.in_flight import DueDelivery
from api.services.webhooks.slowness import HALF_LIFE_S, KEEP_S, LONG_S, Slowness


class Watch:
    """A stopwatch that the test sets."""

    seconds = 0.0

    def read(self) -> float:
        return self.seconds


def delivery(name: str, number: int = 0) -> DueDelivery:
    return DueDelivery(delivery_id=f"{name}/{number}", vendor_id="vd", subscription_id=name, order_id=None)


def test_what_has_been_under_way_for_long_is_slow_before_it_ends() -> None:
    watch = Watch()
    slowness = Slowness(watch.read)
    slowness.begin(delivery("a"))
    watch.seconds = LONG_S
    slowness.begin(delivery("b"))
    assert slowness.learn_habits().slow == frozenset()
    watch.seconds += 0.1
    assert slowness.learn_habits().slow == slowness.list_unanswered(LONG_S) == {"a"}
    assert slowness.list_unanswered(0.05) == {"a", "b"}


def test_a_slow_answer_is_remembered_whatever_comes_after_it_and_then_forgotten() -> None:
    watch = Watch()
    slowness = Slowness(watch.read)
    slowness.begin(delivery("a"))
    watch.seconds = LONG_S + 0.1
    slowness.end(delivery("a"))
    assert slowness.list_unanswered(0) == frozenset()
    for number in range(9):
        slowness.begin(delivery("a", number))
        slowness.end(delivery("a", number))
    watch.seconds += KEEP_S
    assert slowness.learn_habits().slow == {"a"}
    watch.seconds += 0.1
    assert slowness.learn_habits().slow == frozenset()


def test_quick_answers_are_not_remembered() -> None:
    watch = Watch()
    slowness = Slowness(watch.read)
    slowness.begin(delivery("a"))
    watch.seconds = LONG_S
    slowness.end(delivery("a"))
    watch.seconds += LONG_S
    assert slowness.learn_habits().slow == frozenset()


def test_what_a_vendor_took_is_added_up_and_counts_less_and_less() -> None:
    watch = Watch()
    slowness = Slowness(watch.read)
    for number in range(3):
        slowness.begin(delivery("a", number))
    watch.seconds = 2.0
    for number in range(3):
        slowness.end(delivery("a", number))
    taken = slowness.learn_habits().spent["vd"]
    assert 5.8 < taken <= 6.0
    watch.seconds += HALF_LIFE_S
    assert slowness.learn_habits().spent == {"vd": taken / 2}
    watch.seconds += 20 * HALF_LIFE_S
    assert slowness.learn_habits().spent == {}
