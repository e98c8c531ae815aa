"""What a process is sending, and who of those that wait may be sent more: nobody gets more than he leaves to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from api.domain.env import EnvMode

PER_SUBSCRIPTION = 4
"""Deliveries in flight for one subscription, so that a slow one leaves threads to the others."""

Rank = tuple[bool, int, float, int, datetime, str]
"""Compares: who has the smaller one is next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """One event for one subscription, whose the latter is, and the order that the event is about."""

    delivery_id: str
    vendor_id: str
    subscription_id: str
    order_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A subscription that has deliveries that are due, the oldest since `since`.

    `is_gone` if it was deleted or disabled meanwhile.
    """

    subscription_id: str
    vendor_id: str
    env_mode: EnvMode
    is_failing: bool
    is_gone: bool
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What is known of receivers from before.

    Parameters
    ----------
    slow : frozenset of str
        Subscriptions that take long to answer.
    spent : mapping of str to float
        Seconds that a thread was busy with each vendor of late.
    """

    slow: frozenset[str] = frozenset()
    spent: Mapping[str, float] = field(default_factory=dict)


UNKNOWN = Habits()


class InFlight:
    """What is in flight in this process.

    Events of one order go to one subscription one after the other, so that they arrive in their order unless one
    fails; a subscription that is failing gets one request at a time.

    A vendor is sent more only while it has less under way than threads are free. So it takes half of them where nobody
    else sends, and with every other vendor less; whoever has nothing under way gets the last free one. Slow
    subscriptions have half of the threads, and share these in the same way.

    Parameters
    ----------
    threads : int
        Deliveries at the same time.
    closed : frozenset of str
        Subscriptions that get no more.
    habits : Habits
        What is known of receivers from before.
    """

    def __init__(self, threads: int, *, closed: frozenset[str] = frozenset(), habits: Habits = UNKNOWN) -> None:
        self._threads, self._slow_threads = threads, max(1, threads // 2)
        self._closed, self._habits = closed, habits
        self._by_owner: Counter[tuple[str, str]] = Counter()
        self._orders: set[tuple[str, str]] = set()

    def copy_without(
        self, ended: Iterable[DueDelivery], *, closing: frozenset[str] = frozenset(), habits: Habits | None = None
    ) -> InFlight:
        """Return what is in flight once these deliveries have ended.

        Parameters
        ----------
        closing : frozenset of str
            Subscriptions that get no more from now on.
        habits : Habits, optional
            What is known by now; the same as before by default.
        """
        other = InFlight(self._threads, closed=self._closed | closing, habits=habits or self._habits)
        other._by_owner, other._orders = self._by_owner.copy(), self._orders.copy()
        for one in ended:
            other._by_owner[one.vendor_id, one.subscription_id] -= 1
            other._orders.discard((one.subscription_id, one.order_id or ""))
        other._by_owner += Counter()  # drops the zeros
        return other

    @property
    def count(self) -> int:
        """How many deliveries are being sent."""
        return self._by_owner.total()

    @property
    def free(self) -> int:
        """How many more there are threads for."""
        return self._threads - self.count

    def is_open(self, one: Waiting) -> bool:
        """Whether a subscription may be sent more now."""
        name, vendor = one.subscription_id, one.vendor_id
        limit = 1 if one.is_failing else PER_SUBSCRIPTION
        if name in self._closed or self._by_owner[vendor, name] >= limit or self._count_of(vendor) >= self.free:
            return False
        slow = {owner: count for owner, count in self._by_owner.items() if owner[1] in self._habits.slow}
        left = self._slow_threads - sum(slow.values())
        return name not in self._habits.slow or sum(count for owner, count in slow.items() if owner[0] == vendor) < left

    def rank(self, one: Waiting) -> Rank:
        """Return whose turn it is: live before test, then who has less under way, then who took less time of late."""
        vendor, name = one.vendor_id, one.subscription_id
        is_test, spent = one.env_mode != EnvMode.LIVE, self._habits.spent.get(vendor, 0.0)
        return is_test, self._count_of(vendor), spent, self._by_owner[vendor, name], one.since, name

    def admit(self, one: DueDelivery) -> bool:
        """Take in a delivery of a subscription that is open, unless its order has to wait."""
        if one.order_id and (one.subscription_id, one.order_id) in self._orders:
            return False
        self.enter(one)
        return True

    def enter(self, one: DueDelivery) -> None:
        """Take a delivery in."""
        self._by_owner[one.vendor_id, one.subscription_id] += 1
        if one.order_id:
            self._orders.add((one.subscription_id, one.order_id))

    def _count_of(self, vendor_id: str) -> int:
        return sum(count for owner, count in self._by_owner.items() if owner[0] == vendor_id)
