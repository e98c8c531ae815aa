"""What a watcher says of a chain that can't be read: each reason once a minute, a new one at once."""

from __future__ import annotations

from api.services.settlement.watching.progress import MOST_REASONS, SAID_EVERY, Progress


def count_said(progress: Progress, reason: str, looks: int) -> int:
    return sum(progress.note_failure(reason) for _ in range(looks))


def test_a_reason_that_changes_within_the_minute_is_said_at_once() -> None:
    progress = Progress()
    assert count_said(progress, "a.example: no answer in time", 10) == 1
    assert progress.note_failure("a.example: is chain 10, not 1; check the URL")
    assert count_said(progress, "a.example: no answer in time", SAID_EVERY - 11) == 0, "it was said a moment ago"
    assert progress.note_failure("a.example: no answer in time"), "a minute is over"


def test_a_reason_whose_numbers_grow_is_the_same() -> None:
    progress = Progress()
    said = [progress.note_failure(f"its newest block 7 is {900 + number} s old") for number in range(2 * SAID_EVERY)]
    assert sum(said) == 2


def test_whoever_makes_reasons_up_does_not_fill_the_log() -> None:
    progress = Progress()
    names = [chr(ord("a") + number % 26) * (1 + number // 26) for number in range(SAID_EVERY)]
    assert sum(progress.note_failure(f"refused: {name}") for name in names) == MOST_REASONS


def test_after_a_success_the_same_reason_is_news() -> None:
    progress = Progress()
    assert progress.note_failure("away")
    progress.note_success()
    assert progress.note_failure("away")
