"""What a caller is told of sources that an answer does without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from adapters.installed import list_broken
from api.domain.clock import format_time

if TYPE_CHECKING:
    from adapters.feed.state import SourceReport

WORDS = {
    "bad_payload": "its answers cannot be trusted",
    "breaker_open": "it does not answer",
    "crashed": "it cannot be read",
    "declined": "it declines to answer",
    "hangs": "it does not answer",
    "incomplete": "it cannot be read",
    "pending": "it has not answered yet",
    "stale": "its rates are too old",
    "venue_unavailable": "it does not answer",
}
"""The operator is told more, in the log and the metrics: hosts and files are none of a caller's business."""


def list_broken_packages() -> list[str]:
    """Return what installed packages offer and this process cannot load; why it cannot the log says."""
    return [each.describe() for each in list_broken()]


def list_left_out(sources: Iterable[SourceReport]) -> list[dict[str, str]]:
    """Return the sources, and the protocols of chains, that a market does without: each with the reason and since when.

    Sources in trouble whose last rates are still good are not among them: answers rest on them.
    """
    return [told for each in sources for told in _tell_problem(each)]


def _tell_problem(source: SourceReport) -> Iterator[dict[str, str]]:
    if source.is_left_out:
        yield {"protocol": source.name, "reason": f"STALE: {_choose_words(source)}"}
        return
    _, _, chain = source.name.partition("@")
    for name in source.missing:
        yield {"protocol": f"{name}@{chain}" if chain else name, "reason": f"UNAVAILABLE: {_choose_words(source)}"}


def _choose_words(source: SourceReport) -> str:
    words = WORDS.get(source.trouble, "it cannot be used")
    return f"{words} since {format_time(datetime.fromtimestamp(source.since, UTC))}"
