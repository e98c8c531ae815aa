"""Places for requests that wait for something outside: a chain that hangs keeps nobody waiting who needs none of it.

A request that waits holds a thread of the server. Anybody with an order's link can make some wait, and anybody at all
does so while an endpoint hangs. So the places are fewer than the threads, and no one chain has all of them. Neither has
one vendor, whose name server may take its time, where names are looked up.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from api.domain.errors import ServiceUnavailable

PLACES = 8
RETRY_S = 5
BALANCES, SCREEN = 0, -1
"""Stand for all chains whose balances are asked for together, and for the operator's check of addresses; no chain has
these numbers."""


class NoPlace(ServiceUnavailable):
    """Too many wait already."""


class WaitingRoom:
    """Places of one process.

    Parameters
    ----------
    places : int
        In all; each chain, or whoever else is waited for, has half of them.
    """

    def __init__(self, places: int = PLACES) -> None:
        self._places, self._each = max(1, places), max(1, places // 2)
        self._lock = threading.Lock()
        self._inside: Counter[Hashable] = Counter()

    @contextmanager
    def enter(self, awaited: Hashable) -> Iterator[None]:
        """Take a place until the block ends.

        Parameters
        ----------
        awaited : hashable
            A chain's number, what stands for others, or on whose account a name is looked up.

        Raises
        ------
        NoPlace
            If there is none; nobody waits for one.
        """
        with self._lock:
            if self._inside[awaited] >= self._each or self._inside.total() >= self._places:
                raise NoPlace("Too many wait for this just now; try again", retry_after_s=RETRY_S)
            self._inside[awaited] += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside[awaited] -= 1
