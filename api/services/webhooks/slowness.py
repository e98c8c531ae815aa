"""What this process has learnt of receivers: who takes long to answer, and how long each vendor kept threads busy."""

from __future__ import annotations

from collections.abc import Callable

from api.services.webhooks.in_flight import DueDelivery, Habits

LONG_S = 4.0
"""An answer that takes longer is slow."""
KEEP_S = 600.0
"""How long a slow answer is remembered, however many quick ones come after it: they cost a thief nothing."""
HALF_LIFE_S = 60.0
"""After how long the time that a vendor took counts half."""
LEAST_S = 0.001
"""What has come to less is forgotten."""


class Slowness:
    """What this process knows of how long receivers take; another process learns it anew.

    Parameters
    ----------
    stopwatch : callable
        Monotonic seconds.
    """

    def __init__(self, stopwatch: Callable[[], float]) -> None:
        self._stopwatch = stopwatch
        self._begun: dict[str, tuple[str, float]] = {}
        self._slow_at: dict[str, float] = {}
        self._spent: dict[str, float] = {}
        self._counted_at = stopwatch()

    def begin(self, one: DueDelivery) -> None:
        """Note that a delivery is being sent."""
        self._begun[one.delivery_id] = one.subscription_id, self._stopwatch()

    def end(self, one: DueDelivery) -> None:
        """Note that it has been sent."""
        name, since = self._begun.pop(one.delivery_id)
        now = self._stopwatch()
        self._spent[one.vendor_id] = self._spent.get(one.vendor_id, 0.0) + now - since
        if now - since > LONG_S:
            self._slow_at[name] = now

    def list_unanswered(self, seconds: float) -> frozenset[str]:
        """List the subscriptions that have not answered for so long."""
        now = self._stopwatch()
        return frozenset(name for name, since in self._begun.values() if now - since > seconds)

    def learn_habits(self) -> Habits:
        """Return who takes long now, or did lately, and what each vendor has taken of late."""
        now = self._stopwatch()
        left, self._counted_at = 0.5 ** ((now - self._counted_at) / HALF_LIFE_S), now
        self._slow_at = {name: at for name, at in self._slow_at.items() if now - at <= KEEP_S}
        self._spent = {vendor: spent * left for vendor, spent in self._spent.items() if spent * left > LEAST_S}
        return Habits(slow=self.list_unanswered(LONG_S) | self._slow_at.keys(), spent=self._spent.copy())
