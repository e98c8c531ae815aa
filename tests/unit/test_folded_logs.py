"""A warning that comes again and again is one line a minute, with how often it came."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from api.logs import FOLD_S, MOST_FOLDED, FoldingHandler, JsonLines


class Desk:
    """A log, and the clock that it goes by."""

    def __init__(self) -> None:
        self.now = 0.0
        self._stream = io.StringIO()
        self.handler = FoldingHandler(self._stream, stopwatch=lambda: self.now)
        self.handler.setFormatter(JsonLines())
        self._log = logging.Logger("api.worker.process")
        self._log.addHandler(self.handler)

    def say(self, event: str, *, level: int = logging.WARNING, **more: object) -> None:
        self._log.log(level, {"event": event, **more})

    def fail(self, error: Exception) -> None:
        try:
            raise error
        except type(error):
            self._log.exception("a library fails at %s", "it")

    def read(self) -> list[dict[str, Any]]:
        """Return the lines since the last look."""
        lines = [json.loads(line) for line in self._stream.getvalue().splitlines()]
        self._stream.seek(0)
        self._stream.truncate()
        return lines


@pytest.fixture
def desk() -> Iterator[Desk]:
    opened = Desk()
    yield opened
    opened.handler.close()


def test_what_every_duty_says_all_the_time_is_a_line_a_minute_for_each(desk: Desk) -> None:
    duties = [f"webhooks/{number}" for number in range(4)]
    for tick in range(int(10 * FOLD_S)):
        desk.now = tick / 5
        for duty in duties:
            desk.say("database_unavailable", duty=duty, kind="OperationalError", request_id=f"req_{tick}")
    lines = desk.read()
    assert [line.get("repeated") for line in lines] == [None] * 4 + [299] * 4 + [None] * 4
    assert all(line["remedy"] and line["level"] == "warning" for line in lines)


def test_what_was_counted_is_written_with_the_next_line_or_at_the_end(desk: Desk) -> None:
    for _ in range(3):
        desk.say("database_unavailable", kind="a")
    desk.now = FOLD_S
    desk.say("leases_available", level=logging.INFO)
    assert [(line["event"], line.get("repeated")) for line in desk.read()] == [
        ("database_unavailable", None),
        ("database_unavailable", 2),
        ("leases_available", None),
    ]
    desk.say("database_unavailable", kind="a")
    desk.say("database_unavailable", kind="a")
    desk.handler.close()
    assert [line.get("repeated") for line in desk.read()] == [None, 1]


def test_what_says_something_else_is_written(desk: Desk) -> None:
    for kind in ("a", "b"):
        desk.say("database_unavailable", kind=kind)
    desk.say("database_unavailable", kind="a", level=logging.ERROR)
    for number in range(2):
        desk.say("request", level=logging.INFO, request_id=str(number))
    assert len(desk.read()) == 5


def test_a_library_that_fails_alike_is_counted_and_one_that_fails_otherwise_is_written(desk: Desk) -> None:
    for error in (ValueError("a"), ValueError("a"), ValueError("b")):
        desk.fail(error)
    lines = desk.read()
    assert ["ValueError: a" in line["exception"] for line in lines] == [True, False]


def test_only_so_many_are_remembered_and_no_line_is_lost(desk: Desk) -> None:
    for _ in range(2):
        for number in range(MOST_FOLDED + 10):
            desk.say("payment_lost", tx_hash=str(number))
    assert len(desk.read()) == MOST_FOLDED + 20
    desk.now = FOLD_S
    desk.say("leases_available", level=logging.INFO)
    lines = desk.read()
    assert [line.get("repeated") for line in lines] == [1] * MOST_FOLDED + [None]
