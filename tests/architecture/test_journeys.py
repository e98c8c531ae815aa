"""The journeys of `docs/architecture.md` can be walked: files are there, names are in them, stops call each other."""

from __future__ import annotations

import pytest

from tests.architecture.journeys import DOCUMENT, Journey, calls, defines, draw, list_used, read_journeys
from tests.architecture.source import ROOT

JOURNEYS = read_journeys()
MOST_STOPS = 12


def test_there_are_four_journeys() -> None:
    assert [journey.title for journey in JOURNEYS] == [
        "A request to its certificate",
        "A payment link to its webhook",
        "A swap event to a snapshot",
        "A transaction to success",
    ]


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.title)
def test_files_and_names_are_there(journey: Journey) -> None:
    assert [stop.number for stop in journey.stops] == list(range(1, len(journey.stops) + 1))
    assert 3 <= len(journey.stops) <= MOST_STOPS
    for stop in journey.stops:
        assert (ROOT / stop.path).is_file(), stop
        assert stop.link == f"../{stop.path}"
        assert defines(stop.module, stop.name), stop


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.title)
def test_stops_call_each_other(journey: Journey) -> None:
    assert journey.stops[0].other == 0
    for stop in journey.stops[1:]:
        assert 0 < stop.other < stop.number, stop
        other = journey.stops[stop.other - 1]
        if stop.table:
            assert stop.table in list_used(stop.module) & list_used(other.module), stop
        else:
            caller, callee = (stop, other) if stop.is_caller else (other, stop)
            assert calls(caller, callee), f"{caller.path} does not call {callee.name} of {callee.path}"


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.title)
def test_pictures_are_of_the_journeys(journey: Journey) -> None:
    shown = (DOCUMENT.parent / journey.picture).read_text()
    assert shown == draw(journey), "run: python -m tests.architecture.journeys"


def test_stops_that_do_not_call_each_other_are_noticed() -> None:
    first, *_, last = JOURNEYS[0].stops
    assert not calls(last, first)
    assert not defines(first.module, "Router.no_such_method")
