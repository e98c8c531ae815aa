"""Readings: what protocols want to know, step by step, without knowing who asks the chain.

A reading is a generator. It yields requests, is sent replies, and returns what it made of them. Being free of input and
output, it gives the same on a live chain and on recorded replies.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from adapters.base import AdapterError, BadPayload
from adapters.rpc.abi import Call, Log, LogFilter, Outcome
from adapters.rpc.scan_program import Scan
from routing_engine.errors import InvalidMarket


@dataclass(frozen=True, slots=True)
class Request:
    """Calls and scans, all at the same block, and logs."""

    calls: tuple[Call | Scan, ...] = ()
    filters: tuple[LogFilter, ...] = ()


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why logs cannot be had, though the chain answers otherwise."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One outcome for each call, and the logs of each filter in the order of the chain."""

    outcomes: tuple[Outcome, ...] = ()
    logs: tuple[tuple[Log, ...] | Unanswered, ...] = ()


class Responder(Protocol):
    """Who answers requests: a chain, or a recording."""

    def answer(self, request: Request) -> Reply:
        """Answer one request.

        Raises
        ------
        AdapterError
            If it cannot be answered.
        """
        ...


Found = TypeVar("Found")
Key = TypeVar("Key", bound=Hashable)
Reading = Generator[Request, Reply, Found]


def run(reading: Reading[Found], responder: Responder) -> Found:
    """Let `responder` answer a reading's requests until it returns."""
    try:
        request = next(reading)
        while True:
            request = reading.send(responder.answer(request))
    except StopIteration as done:
        found: Found = done.value
        return found


def ask(calls: Iterable[Call | Scan]) -> Reading[tuple[Outcome, ...]]:
    """Ask for the outcomes of calls; none costs nothing."""
    wanted = tuple(calls)
    if not wanted:
        return ()
    reply = yield Request(calls=wanted)
    return reply.outcomes


def ask_each(
    keys: Iterable[Key], calls_of: Callable[[Key], Sequence[Call]]
) -> Reading[Mapping[Key, tuple[tuple[Call, Outcome], ...]]]:
    """Ask several calls for each key; give each key its calls with their outcomes."""
    wanted = {key: tuple(calls_of(key)) for key in keys}
    outcomes = iter((yield from ask(call for calls in wanted.values() for call in calls)))
    return {key: tuple((call, next(outcomes)) for call in calls) for key, calls in wanted.items()}


def ask_logs(filters: Iterable[LogFilter]) -> Reading[tuple[Log, ...]]:
    """Ask for the logs of all filters, one after another.

    Raises
    ------
    BadPayload
        If some cannot be had.
    """
    wanted = tuple(filters)
    if not wanted:
        return ()
    reply = yield Request(filters=wanted)
    found: list[Log] = []
    for logs in reply.logs:
        if isinstance(logs, Unanswered):
            raise BadPayload(logs.reason)
        found += logs
    return tuple(found)


def join_readings(readings: Mapping[Key, Reading[Found]]) -> Reading[Mapping[Key, Found | AdapterError]]:
    """Run readings side by side, their requests merged, so that one reply serves all of them.

    A reading that fails on what it was told fails alone: its error stands in its place.
    """
    found: dict[Key, Found | AdapterError] = {}
    waiting: dict[Key, Request] = {}
    for key, reading in readings.items():
        _advance(key, reading, None, found, waiting)
    while waiting:
        asked = dict(waiting)
        waiting.clear()
        merged = Request(
            calls=tuple(call for request in asked.values() for call in request.calls),
            filters=tuple(each for request in asked.values() for each in request.filters),
        )
        reply = yield merged
        outcomes, logs = iter(reply.outcomes), iter(reply.logs)
        for key, request in asked.items():
            part = Reply(tuple(next(outcomes) for _ in request.calls), tuple(next(logs) for _ in request.filters))
            _advance(key, readings[key], part, found, waiting)
    return {key: found[key] for key in readings}


def _advance(
    key: Key,
    reading: Reading[Found],
    reply: Reply | None,
    found: dict[Key, Found | AdapterError],
    waiting: dict[Key, Request],
) -> None:
    """Take one reading a step further, to its next request or its end."""
    try:
        waiting[key] = next(reading) if reply is None else reading.send(reply)
    except StopIteration as done:
        found[key] = done.value
    except AdapterError as error:
        found[key] = error
    except InvalidMarket as error:
        found[key] = AdapterError(str(error))
