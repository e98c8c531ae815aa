"""Reading many sources side by side: each in a thread of its own, so that none keeps another waiting."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from math import inf
from typing import Any

from adapters.base import Adapter, AdapterError, Source, VenueUnavailable
from adapters.feed.merge import Fold
from adapters.feed.state import INCOMPLETE, Freshness, SourceReport, State
from routing_engine.formats import Contents
from routing_engine.token_fields import Transfers

logger = logging.getLogger(__name__)

HANGS_AFTER_S = 30.0
"""A reading that takes this much longer than its source's interval is reported, while it goes on."""
RETRY_S = 15.0
"""After a failure a source is read again this soon, whatever its interval."""
LONGEST_PAUSE_S = 3_600.0
LONGEST_REASON = 500
HANGS = "hangs"


class Crashed(AdapterError):
    """An adapter raised something that is not an `AdapterError`: a mistake in its code."""

    code = "crashed"


class _Slot:
    """One source, and how it is doing; guarded by the feed's lock."""

    def __init__(self, source: Source, opened_at: float) -> None:
        self.source, self.opened_at = source, opened_at
        self.name = source.adapter.name
        self.report = SourceReport(name=self.name)
        self.started_at: float | None = None
        self.due_at = 0.0

    def make_report(self, now: float) -> SourceReport:
        """Return the report, which says so if the reading under way takes too long, or since when there was none."""
        if self.report.trouble:
            return self.report
        if self.started_at is None or now - self.started_at < self.source.interval_s + HANGS_AFTER_S:
            return self.report if self.report.readings else replace(self.report, since=self.opened_at)
        return replace(self.report, trouble=HANGS, reason="does not answer", since=self.started_at)


class Feed:
    """Keeps what its sources gave last, as one state.

    A source that fails, hangs, crashes or lies changes nothing of what the others gave, and what it gave itself is used
    until it is stale.

    Parameters
    ----------
    sources : iterable of Source
        With different names.
    clock : callable
        Seconds since 1970. Not a clock that stands still while the machine sleeps: rates age then too.
    accept : collection of Transfers
        As `Fold`.

    Raises
    ------
    ValueError
        If two sources share a name.
    """

    def __init__(
        self,
        sources: Iterable[Source],
        *,
        clock: Callable[[], float] = time.time,
        accept: Collection[Transfers] = (),
    ) -> None:
        opened_at = clock()
        self._slots = tuple(_Slot(source, opened_at) for source in sources)
        names = [slot.name for slot in self._slots]
        if len(set(names)) < len(names):
            raise ValueError(f"two sources share a name: {', '.join(sorted(names))}")
        self._clock = clock
        self._fold = Fold(accept)
        self._changed = threading.Condition()
        self._fresh = Freshness()
        self._is_closed = False

    def start_due(self) -> None:
        """Start reading each source that is due, unless it is being read; returns at once."""
        now = self._clock()
        with self._changed:
            due = [slot for slot in self._slots if slot.due_at <= now and slot.started_at is None]
            for slot in due if not self._is_closed else ():
                self._begin(slot, now)
                threading.Thread(target=self._read, args=(slot,), name=f"source {slot.name}", daemon=True).start()

    def read_all(self) -> State:
        """Read every source once, one after the other, and return the state."""
        for slot in self._slots:
            with self._changed:
                self._begin(slot, self._clock())
            self._read(slot)
        return self.get_state()

    def get_state(self) -> State:
        """Return what may be used now."""
        now = self._clock()
        with self._changed:
            reports = tuple(slot.make_report(now) for slot in self._slots)
            whole = State(snapshot=self._fold.snapshot, owners=self._fold.owners, sources=reports)
            return self._fresh(whole, now)

    def close(self) -> None:
        """Start nothing more, and take nothing more of what is under way."""
        with self._changed:
            self._is_closed = True

    def wait_idle(self, timeout_s: float, *names: str) -> bool:
        """Wait until no source, or none of these, is being read; tell whether that came to pass."""
        slots = [slot for slot in self._slots if not names or slot.name in names]
        with self._changed:
            return self._changed.wait_for(lambda: all(slot.started_at is None for slot in slots), timeout_s)

    def _begin(self, slot: _Slot, now: float) -> None:
        slot.started_at = now
        slot.due_at = now + slot.source.interval_s

    def _read(self, slot: _Slot) -> None:
        adapter = slot.source.adapter
        failure: AdapterError | None = None
        try:
            contents = adapter.parse(adapter.fetch())
            self._take(slot, contents)
        except AdapterError as error:
            failure = error
        except Exception as error:  # a source is somebody else's code: it must not stop the others
            logger.exception("adapter %s crashed", slot.name)
            failure = Crashed(f"crashed: {type(error).__name__}")
        with self._changed:
            self._finish(slot, failure)
            self._changed.notify_all()

    def _take(self, slot: _Slot, contents: Contents) -> None:
        with self._changed:
            if not self._is_closed:
                self._fold.take(slot.name, contents, self._clock())

    def _finish(self, slot: _Slot, failure: AdapterError | None) -> None:
        """Write down how a reading ended; the age of what it gave counts from its start."""
        now, began = self._clock(), slot.started_at or 0.0
        slot.started_at = None
        report = replace(slot.report, readings=slot.report.readings + 1, seconds=now - began)
        if failure is None:
            slot.report = self._report_success(report, began + slot.source.max_age_s, now)
            return
        logger.warning("source %s failed: %s", slot.name, failure)
        asked_s = failure.retry_after_s or 0.0 if isinstance(failure, VenueUnavailable) else 0.0
        slot.due_at = now + max(min(asked_s, LONGEST_PAUSE_S), min(RETRY_S, slot.source.interval_s))
        slot.report = replace(
            report,
            failures=report.failures + 1,
            trouble=failure.code,
            reason=_make_printable(str(failure)),
            since=report.since or now,
        )

    def _report_success(self, report: SourceReport, expires_at: float, now: float) -> SourceReport:
        known = replace(
            report,
            expires_at=expires_at,
            gas_chains=self._fold.list_gas_chains(report.name),
            refused=self._fold.get_refused(report.name),
        )
        if not known.missing:
            return replace(known, trouble="", reason="", since=0.0)
        reason = _make_printable(f"cannot read {', '.join(known.missing)}")
        return replace(known, trouble=INCOMPLETE, reason=reason, since=report.since or now)


def refresh(adapters: Iterable[Adapter[Any]], accept: Collection[Transfers] = ()) -> State:
    """Read adapters once, and return what they give together and which of them failed.

    Parameters
    ----------
    adapters : iterable of Adapter
        With different names.
    accept : collection of Transfers
        As `Feed`.
    """
    sources = (Source(adapter=adapter, interval_s=inf, max_age_s=inf) for adapter in adapters)
    return Feed(sources, accept=accept).read_all()


def _make_printable(text: str) -> str:
    """Return a text that comes from outside in a form that may stand in a log or a document."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:LONGEST_REASON])
