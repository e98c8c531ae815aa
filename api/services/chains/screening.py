"""The seam for a check of addresses: who must not pay, and who must not be paid.

Off by default. An operator who has to screen installs a package with an entry point in the group ``checkout.screening``
and names it in ``SCREENING``.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from importlib.metadata import entry_points
from itertools import islice
from threading import Lock
from typing import Protocol, TypeVar

import structlog

from api.domain.errors import ServiceUnavailable
from api.setting_values import describe

log = structlog.get_logger(__name__)

Value = TypeVar("Value")
ENTRY_POINTS = "checkout.screening"
RETRY_S = 5
MOST_AT_ONCE = 100
"""Addresses in one question."""
MOST_FAILURES = 3
"""Questions that a look asks in vain."""
LOOK_S = 2.0
"""How long a look goes on asking; what it began is waited for."""
KEPT = timedelta(minutes=10)
"""How long what was said of an address holds for payments: a look that had no time for all goes on where it was."""
MOST_KEPT = 100_000
"""Addresses of which something is remembered: more than pay in a block."""


class Screen(Protocol):
    """What an entry point in the group ``checkout.screening`` names."""

    def __call__(self, addresses: Collection[str]) -> Collection[str]:
        """Return those of the addresses, all in lower case, with whom nothing must be exchanged.

        At most `MOST_AT_ONCE` are asked about at once: whoever pays a merchant, which anybody may.

        Raises
        ------
        Exception
            Of any kind, where it can't say now: payments that have to do with one of them wait until it can.
        """
        ...


def nobody(addresses: Collection[str]) -> Collection[str]:
    """Reject nobody: the screen of an operator who has none."""
    return ()


@lru_cache(maxsize=8)
def find_screen(name: str | None) -> Screen:
    """Return the installed screen of this name; without a name the one that rejects nobody.

    Raises
    ------
    ValueError
        Naming what is installed, if there is none of this name.
    """
    if name is None:
        return nobody
    installed = {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
    if name not in installed:
        raise ValueError(
            f"SCREENING is {describe(name)}, but no such check is installed: there is "
            f"{', '.join(sorted(installed)) or 'none'}. Install the package that has it as an entry point in "
            f"`{ENTRY_POINTS}`, or leave SCREENING out"
        )
    try:
        screen: Screen = installed[name].load()
    except Exception as error:  # a stranger's code
        raise ValueError(
            f"SCREENING is {describe(name)}, which is installed but can't be loaded ({type(error).__name__}: {error})"
        ) from error
    return screen


def is_rejected(screen: Screen, place: AbstractContextManager[None], *addresses: str) -> bool:
    """Return whether nothing must be exchanged with one of these addresses, for a request that waits for the answer.

    Parameters
    ----------
    place : context manager
        Of a waiting room: the screen may take its time, and anybody names wallets.

    Raises
    ------
    ServiceUnavailable
        If the screen can't say now, or too many wait for it: nothing is built or sent until it can.
    """
    if screen is nobody:
        return False
    try:
        with place:
            return bool(screen(addresses))
    except ServiceUnavailable:
        raise
    except Exception as error:  # a stranger's code: whatever goes wrong in it, nothing is exchanged unchecked
        log.warning("screening_failed", kind=type(error).__name__)
        raise ServiceUnavailable("The check of addresses does not answer; try again", retry_after_s=RETRY_S) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """What a screen says of the people of a look.

    Parameters
    ----------
    rejected : frozenset of str
        With whom nothing must be exchanged.
    in_vain : frozenset of str
        At whom it failed when it was asked about nobody else, and not at others.
    unasked : frozenset of str
        For whom there was no time, or all while it is away.
    """

    rejected: frozenset[str] = frozenset()
    in_vain: frozenset[str] = frozenset()
    unasked: frozenset[str] = frozenset()


@dataclass(slots=True)
class ScreenMemory:
    """What a screen has said of payers lately, and at whom it failed.

    Strangers choose who is asked about. So they are asked about in parts, and who was in a part that failed by himself
    from then on: one at whom the screen always fails keeps only his own payments waiting.
    """

    _screen: Screen = nobody
    _said: dict[str, tuple[datetime, bool]] = field(default_factory=dict)
    """When something was said of an address, and whether it is rejected."""
    _failed: dict[str, bool] = field(default_factory=dict)
    """Whether it was an address by itself; in the order in which they were asked about last."""
    _lock: Lock = field(default_factory=Lock)

    def ask(self, screen: Screen, people: Iterable[str], now: datetime) -> Screened:
        """Ask a screen about people, those who come first before others, as long as a look has time for it."""
        wanted = dict.fromkeys(people)
        if not wanted or screen is nobody:
            return Screened()
        self._use(screen)
        ends, said, failures = time.monotonic() + LOOK_S, 0, 0
        for part in self._divide([each for each in wanted if self._recall(each, now) is None]):
            if failures >= MOST_FAILURES or time.monotonic() >= ends:
                break
            is_said = self._ask_about(screen, part, now)
            said, failures = said + is_said, failures + (not is_said)
        is_there = said > 0 or (failures > 0 and time.monotonic() < ends and self._knows_anybody(screen))
        known = {each: self._recall(each, now) for each in wanted}  # once: what is forgotten meanwhile is unknown
        left = frozenset(each for each, is_rejected in known.items() if is_rejected is None)
        in_vain = frozenset(each for each in left if is_there and self._failed.get(each))
        rejected = frozenset(each for each, is_rejected in known.items() if is_rejected)
        return Screened(rejected=rejected, in_vain=in_vain, unasked=left - in_vain)

    def _knows_anybody(self, screen: Screen) -> bool:
        """Whether the screen says again what it has said last: else it is away, and fails at everybody."""
        with self._lock:
            last = next(reversed(self._said), None)
        try:
            return last is not None and screen([last]) is not None
        except Exception:  # a stranger's code
            return False

    def _use(self, screen: Screen) -> None:
        """Forget what another screen has said."""
        with self._lock:
            if self._screen is not screen:
                self._screen = screen
                self._said.clear()
                self._failed.clear()

    def _divide(self, asked: Sequence[str]) -> Iterator[Sequence[str]]:
        """Yield who is asked about together, then by himself each at whom the screen failed, the longest ago first.

        Who is among the first and fails is among the last, too.
        """
        fresh = [each for each in asked if each not in self._failed]
        for begin in range(0, len(fresh), MOST_AT_ONCE):
            yield fresh[begin : begin + MOST_AT_ONCE]
        with self._lock:
            places = {address: place for place, address in enumerate(self._failed)}
        for each in sorted(filter(places.__contains__, asked), key=places.__getitem__):
            yield [each]

    def _ask_about(self, screen: Screen, part: Sequence[str], now: datetime) -> bool:
        """Ask, and remember what was said, or that nothing was; tell whether anything was."""
        try:
            rejected = frozenset(screen(part))
        except Exception as fault:  # a stranger's code: whatever goes wrong in it, no payment is taken unchecked
            log.warning("screening_failed", kind=type(fault).__name__, addresses=len(part))
            with self._lock:
                _renew(self._failed, dict.fromkeys(part, len(part) == 1))
            return False
        with self._lock:
            _renew(self._said, {each: (now, each in rejected) for each in part})
            for each in part:
                self._failed.pop(each, None)
        return True

    def _recall(self, address: str, now: datetime) -> bool | None:
        """Return whether an address is rejected; None where nobody has said anything lately."""
        at, is_rejected = self._said.get(address, (None, None))
        return is_rejected if at is not None and at <= now < at + KEPT else None


def _renew(kept: dict[str, Value], fresh: Mapping[str, Value]) -> None:
    """Put these behind all others, and forget the first of too many."""
    for name, value in fresh.items():
        kept.pop(name, None)
        kept[name] = value
    for name in list(islice(kept, max(0, len(kept) - MOST_KEPT))):
        del kept[name]
