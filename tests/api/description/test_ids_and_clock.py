"""Ids and the clock."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from api.domain.clock import SystemClock, format_time
from api.domain.ids import IdPrefix, make_id, make_reference
from tests.support.clock import SettableClock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.rule("money.1")
def test_an_id_is_its_prefix_and_36_url_safe_characters() -> None:
    assert re.fullmatch(r"po_[0-9a-hjkmnp-tv-z]{36}", make_id(IdPrefix.ORDER, NOON))


@pytest.mark.rule("money.2")
def test_ids_sort_by_the_time_of_making() -> None:
    made = [make_id(IdPrefix.EVENT, NOON + timedelta(milliseconds=step)) for step in range(0, 5000, 7)]
    assert sorted(made) == made


@pytest.mark.rule("money.1")
def test_ids_of_one_moment_differ() -> None:
    assert len({make_id(IdPrefix.ORDER, NOON) for _ in range(10_000)}) == 10_000


@pytest.mark.rule("money.1")
def test_every_random_character_varies() -> None:
    made = [make_id(IdPrefix.ORDER, NOON)[-26:] for _ in range(2000)]
    assert all(len({text[position] for text in made}) == 32 for position in range(26))


def test_a_reference_has_16_bytes() -> None:
    assert len(make_reference()) == 16
    assert make_reference() != make_reference()


def test_a_settable_clock_moves_only_when_told() -> None:
    clock = SettableClock(NOON.astimezone(timezone(timedelta(hours=5))))
    assert clock.now() == clock.now() == NOON
    clock.advance(minutes=5)
    assert clock.now() == NOON + timedelta(minutes=5)
    clock.set(NOON)
    assert format_time(clock.now()) == "2026-03-01T12:00:00.000Z"


def test_a_clock_refuses_a_moment_without_a_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        SettableClock(datetime(2026, 3, 1))


def test_the_system_clock_is_in_utc() -> None:
    assert SystemClock().now().tzinfo is UTC


@pytest.mark.rule("money.3", "money.4", "money.5", "money.6", "money.7")
def test_each_kind_of_id_has_the_prefix_of_the_interface() -> None:
    kinds = (IdPrefix.ORDER, IdPrefix.SUBSCRIPTION, IdPrefix.EVENT, IdPrefix.ROUTE, IdPrefix.QUOTE)
    assert [make_id(kind, NOON).partition("_")[0] for kind in kinds] == ["po", "ep", "evt", "rt", "qt"]
