"""What a stage says of its time: why a large payment waits long, and what is usual of a bridge nobody has timed."""

from __future__ import annotations

import pytest

from api.checkout_page.language.strings import LANGUAGES, load
from api.checkout_page.status.progress import describe_usual
from api.services.checkout.journey import Stage, StageKind, StageState


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_long_wait_has_its_reason(language: str) -> None:
    strings = load(language)
    short, long = (
        describe_usual(Stage(kind=StageKind.RECEIVED, state=StageState.NOW, expected_s=each), strings)
        for each in (30, 1_600)
    )
    assert short == strings.steps["usual"].format(duration=strings.say_count("second", 30, "30"))
    assert long == strings.steps["usual_final"].format(
        usual=strings.steps["usual"].format(duration=strings.say_count("minute", 27, "27"))
    )


def test_a_bridge_that_nobody_has_timed_says_what_is_usual() -> None:
    stages = [
        Stage(kind=StageKind.BRIDGED, state=StageState.NOW, protocol="simulated"),
        Stage(kind=StageKind.BRIDGED, state=StageState.NOW, protocol="canonical"),
        Stage(kind=StageKind.SWAPPED, state=StageState.TODO),
    ]
    assert [describe_usual(each, load()) for each in stages] == ["usually a few minutes", "", ""]
